"""Django's `migrate`, under a lock: several containers and machines of a release may run it at the same time.

All tables of a new database are created at once, in a second; only an existing database is migrated step by step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from contacts_project.kernel.database.migrations import (
    NewerDatabaseError,
    TooOldError,
    check_not_newer,
    check_tables,
    create_tables,
    is_empty_database,
)
from contacts_project.kernel.database.postgresql import REMEDY, wrong_encoding

# Any number that nothing else uses for an advisory lock: "contact" in ASCII.
_ADVISORY_LOCK_ID = 0x636F6E74616374
# Options with which the result is not the newest schema: they need the single migrations.
_PARTIAL_OPTIONS = ("app_label", "fake", "fake_initial", "plan", "check_unapplied", "prune")

# They show something, or forget that unknown migrations were applied, as an operator may decide.
_HARMLESS_OPTIONS = ("plan", "check_unapplied", "prune")


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with migration_lock(options["database"]):
            if not any(options[name] for name in _PARTIAL_OPTIONS) and is_empty_database(connection):
                if encoding := wrong_encoding(connection):
                    raise CommandError(f"The encoding {encoding} of the database cannot store every name. {REMEDY}")
                create_tables(connection)
                if options["verbosity"]:
                    self.stdout.write("The database was empty: all tables were created.")
                return
            try:
                check_tables(connection)
                if not any(options[name] for name in _HARMLESS_OPTIONS):
                    # It would put this version's triggers into the tables of the newer one.
                    check_not_newer(connection)
            except (TooOldError, NewerDatabaseError) as error:
                raise CommandError(str(error)) from None
            super().handle(*args, **options)


@contextmanager
def migration_lock(database: str) -> Iterator[None]:
    """Wait until no other process migrates. PostgreSQL releases the lock when the connection ends, also by a crash.

    SQLite needs no lock: only one `manage.py serve` can bind the port, and does so before it migrates.
    """
    connection = connections[database]
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK_ID])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK_ID])
