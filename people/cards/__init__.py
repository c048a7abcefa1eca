"""Converts the fields of a person from and to vCards, and reads and keeps the lines that no field holds."""
