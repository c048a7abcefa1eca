"""The contents of one contact as a field map, three-way merges of it, and writing it to a person.

For everything that keeps a card or document of its own of the same contact: a server, a device, a share.
"""
