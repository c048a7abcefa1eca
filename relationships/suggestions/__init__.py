"""Relationships that are likely: out of cards, and out of what is known already. docs/suggestions.md."""
