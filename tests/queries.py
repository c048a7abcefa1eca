"""Counts SQL statements and the work of the database, for tests that a cost does not grow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from django.db import connection
from django.test.utils import CaptureQueriesContext

Arguments = ParamSpec("Arguments")


def count_queries(call: Callable[Arguments, object], *args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
    """Run `call` with the arguments; returns the number of SQL statements that it sent."""
    with CaptureQueriesContext(connection) as captured:
        call(*args, **kwargs)
    return len(captured)


@contextmanager
def count_work() -> Iterator[Callable[[], int]]:
    """Yield a function that returns the database's steps or rows read since the start of the block."""
    if connection.vendor == "postgresql":
        before = _rows_read()
        yield lambda: _rows_read() - before
        return
    steps = [0]

    def count() -> int:
        steps[0] += 20
        return 0

    connection.connection.set_progress_handler(count, 20)
    try:
        yield lambda: steps[0]
    finally:
        connection.connection.set_progress_handler(None, 20)


def _rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_xact_user_tables")
        return int(cursor.fetchone()[0])
