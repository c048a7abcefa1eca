"""Merging two people, one module for each kind of data; people.merging.merge runs them all in one transaction.

Each module returns its changes as JSON and can revert them. The secondary's own row is only moved to the trash: its
field values are copied, while rows with an id of their own (dates, values, interactions, relationships) move.
"""
