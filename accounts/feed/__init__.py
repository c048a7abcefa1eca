"""The change feed: what has changed in an account since a client last read it."""
