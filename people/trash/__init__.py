"""The trash: the kinds of records in it, and the daily purge."""
