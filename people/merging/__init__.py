"""What merging two people means, part by part; people.merging.merge does it in one transaction.

Each part returns what it has changed, as JSON, and can take that back. Nothing of the secondary's own row is changed
but that it is in the trash: what can be copied is copied, what has a life of its own (dates, relationships) moves.
"""
