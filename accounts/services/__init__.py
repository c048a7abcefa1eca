"""Writes to accounts: registration, sign-in, changes of address and password, deletion."""
