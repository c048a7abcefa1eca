"""Django's backend for SQLite, with a queue of writers (`write_queue`). `base` is what Django loads."""
