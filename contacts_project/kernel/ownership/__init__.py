"""Ownership as structure: every row of a user's data is reached through its owner and written under its lock."""
