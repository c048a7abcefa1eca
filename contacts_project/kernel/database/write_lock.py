"""SQLite has one write lock: who only looks, or only notes something, does not wait for it as long as who writes."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

from contacts_project.kernel.unavailable import is_unavailable

_NOTE_SECONDS = 0.1


@contextmanager
def limit_lock_wait(seconds: float) -> Iterator[None]:
    """Wait at most `seconds` for the lock within. On PostgreSQL writes of different rows do not wait for each other."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        usual = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {min(usual, int(seconds * 1000))}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


@contextmanager
def skip_if_locked() -> Iterator[None]:
    """Around one UPDATE that only notes a use: left out while the lock is held, so that reading goes on."""
    try:
        with limit_lock_wait(_NOTE_SECONDS):
            yield
    except OperationalError as error:
        if not is_unavailable(error):
            raise
