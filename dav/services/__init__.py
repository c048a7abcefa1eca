"""What devices write: cards that they put, delete and rename."""
