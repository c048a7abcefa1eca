"""Django's `migrate`, one at a time: each container and each machine of a release may run it.

A new database gets all tables at once, in a second; only one that is there already is migrated step by step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from contacts_project.kernel.database.encoding import REMEDY, wrong_encoding
from contacts_project.kernel.database.migration_states import fewer_model_reloads
from contacts_project.kernel.database.new_tables import create_tables, is_empty_database

# Any number that nobody else takes an advisory lock with.
_LOCK = 0x636F6E74616374
# Options that ask for something else than the newest schema.
_PARTIAL = ("app_label", "fake", "fake_initial", "plan", "check_unapplied", "prune")


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with migrating_alone(options["database"]):
            if not any(options[name] for name in _PARTIAL) and is_empty_database(connection):
                if encoding := wrong_encoding(connection):
                    raise CommandError(f"The database holds {encoding} and cannot take every name. {REMEDY}")
                create_tables(connection)
                if options["verbosity"]:
                    self.stdout.write("The database was new: all tables are made.")
                return
            with fewer_model_reloads():
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
