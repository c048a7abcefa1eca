"""Shorter waits for SQLite's single write lock, for code that does not depend on its write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection

from contacts_project.kernel.errors import is_unavailable

_OPTIONAL_UPDATE_SECONDS = 0.1


@contextmanager
def limit_lock_wait(seconds: float) -> Iterator[None]:
    """Within this context, wait at most `seconds` for the write lock.

    Has no effect on PostgreSQL, where writes of different rows do not wait for each other.
    """
    if connection.vendor != "sqlite":
        yield
        return
    database: Any = connection
    usual_wait = database.max_wait_seconds
    with connection.cursor() as cursor:
        usual = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {min(usual, int(seconds * 1000))}")
        database.max_wait_seconds = min(usual_wait, seconds)  # in the queue of writers
        try:
            yield
        finally:
            database.max_wait_seconds = usual_wait
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


@contextmanager
def skip_if_locked() -> Iterator[None]:
    """Skip the UPDATE within this context if the write lock is held.

    For an UPDATE that only records a use, such as `last_used_at`: a read must not fail or wait for it.
    """
    try:
        with limit_lock_wait(_OPTIONAL_UPDATE_SECONDS):
            yield
    except OperationalError as error:
        if not is_unavailable(error):
            raise
