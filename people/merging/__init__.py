"""Merging two people: the person's own row (`fields`) and rows that refer to it, in one transaction (`merge`); `undo`.

Each part returns its changes as JSON and can revert them. The secondary's own row is only moved to the trash: its
field values are copied, while rows with an id of their own (dates, values, interactions, relationships) move.
"""
