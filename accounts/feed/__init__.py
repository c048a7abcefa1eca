"""The change feed: what has changed in an account since a client last read it (open points, section 13)."""
