"""Suggests relationships from names on cards, and from known relationships and addresses (docs/suggestions.md)."""
