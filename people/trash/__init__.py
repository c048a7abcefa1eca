"""The trash: its kinds of records, and the daily purge."""
