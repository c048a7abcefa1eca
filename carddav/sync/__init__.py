"""Two-way sync of an account's people with an address book. How and why: docs/carddav.md."""
