"""Encryption at rest of secrets that the service must be able to read back, with a ring of keys."""
