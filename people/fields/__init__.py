"""The fields of a person: columns, entries of lists, custom values, and what of them stands in a card."""
