"""Django's `migrate`, one at a time: each container and each machine of a release may run it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import connections

# Any number that nobody else takes an advisory lock with.
_LOCK = 0x636F6E74616374


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with migrating_alone(options["database"]):
            super().handle(*args, **options)


@contextmanager
def migrating_alone(database: str) -> Iterator[None]:
    """Wait until nobody else migrates. PostgreSQL gives the lock back when the connection ends, however it does.

    SQLite needs none: an instance on it is prepared by the one `manage.py serve` that holds its port.
    """
    connection = connections[database]
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
