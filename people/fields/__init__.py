"""Converts the fields of a person from and to vCards, and keeps the card lines that no field holds."""
