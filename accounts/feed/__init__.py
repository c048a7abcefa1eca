"""The change feed: what of an account has changed since a client read it last (open points, section 13)."""
