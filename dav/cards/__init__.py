"""The cards of the book: their texts, and keeping them up to date with the people."""
