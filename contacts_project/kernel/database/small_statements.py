"""Writes of a few rows on SQLite, without a temporary file for each statement."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


@contextmanager
def small_statements() -> Iterator[None]:
    """For a transaction that begins in here, and whose statements change few rows each.

    A statement that may fail after its first change, as triggers may refuse it, keeps the former content of the pages
    that it changes until it ends: beyond 64 KiB in a temporary file, or in here all of it in memory. A new person is
    more, as its table has many indexes: its INSERT takes half as long with this. Other statements may change all pages
    of an account. No effect on PostgreSQL, and inside of another transaction.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    if database.vendor != "sqlite" or database.in_atomic_block:
        yield
        return
    database.ensure_connection()
    execute = database.connection.execute
    execute("PRAGMA temp_store = MEMORY")
    try:
        yield
    finally:
        execute("PRAGMA temp_store = DEFAULT")
