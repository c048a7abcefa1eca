"""Counts SQL statements, for tests that a cost does not grow."""

from collections.abc import Callable
from typing import ParamSpec

from django.db import connection
from django.test.utils import CaptureQueriesContext

Arguments = ParamSpec("Arguments")


def count_queries(call: Callable[Arguments, object], *args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
    """Run `call` with the arguments; returns the number of SQL statements that it sent."""
    with CaptureQueriesContext(connection) as captured:
        call(*args, **kwargs)
    return len(captured)
