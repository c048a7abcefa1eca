"""Fills an empty instance from a backup, and checks a backup without changing anything."""

from pathlib import Path
from typing import BinaryIO

from django.apps import apps
from django.db import Error, connection, transaction
from django.utils import timezone

from accounts.feed.cursor import begin_histories
from accounts.models import User
from contacts_project.backup.container import BackupError
from contacts_project.backup.contents import Header, applied_migrations, known_migrations
from contacts_project.backup.loading import Loader, reset_sequences
from contacts_project.backup.reader import Checked, Photo, TableRows, check_file, read_parts
from contacts_project.backup.tables import REBUILT, data_tables
from contacts_project.backup.upgrade import upgraded
from contacts_project.kernel.database.triggers import without_triggers
from people.photos.files import put_photo

_LOCK_SECONDS = 10


def verify(path: Path, *, key: str) -> Checked:
    """Read the whole file, and compare it with the keys and version of this instance. Raises BackupError, OSError."""
    with path.open("rb") as file:
        checked = check_file(file, key)
    _check_keys(checked)
    is_current(checked.header)
    return checked


def restore(path: Path, *, key: str) -> Checked:
    """Fill this empty instance. Raises BackupError, OSError; then no row was written.

    Photos are written before the rows, in one transaction, name them: who is killed in between leaves an instance that
    is still empty, and may restore again.
    """
    _check_empty()
    checked = verify(path, key=key)
    if is_current(checked.header):
        _fill(path, key, checked)
    else:
        with upgraded(path) as current:
            _fill(current, key, verify(current, key=key))
    return checked


def is_current(header: Header) -> bool:
    """Whether the tables of the backup are as ours; False for an older state. Raises BackupError for a newer."""
    ours, theirs = known_migrations(), frozenset(header.migrations)
    if unknown := sorted(theirs - ours):
        text = f"The backup was made by a newer version ({header.version}): this one does not know {unknown[0]}."
        raise BackupError(f"{text} Nothing was changed.")
    return theirs == ours


def _check_keys(checked: Checked) -> None:
    if checked.sealed_secrets:
        raise BackupError(
            f"{checked.sealed_secrets} secrets in the backup are under a key that ENCRYPTION_KEYS does not hold: put "
            "the keys of its instance there. Nothing was changed."
        )


def _check_empty() -> None:
    try:
        if applied_migrations() != known_migrations():
            raise BackupError("This instance is not migrated: run manage.py migrate first.")
        if User.objects.exists():
            raise BackupError("This instance is not empty: it has accounts. Restore into a new one.")
    except Error as error:
        raise BackupError(f"The database does not answer: {_first_line(error)}") from error


def _fill(path: Path, key: str, checked: Checked) -> None:
    with path.open("rb") as file:
        _store_photos(file, key, checked)
        try:
            with transaction.atomic():
                _lock()
                _check_empty()
                with without_triggers():
                    _load(file, key)
                begin_histories(timezone.now())
                reset_sequences()
        except Error as error:
            raise BackupError(f"The database refused it: {_first_line(error)}. Nothing was changed.") from error
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # its planner knows nothing of so many new rows


def _store_photos(file: BinaryIO, key: str, checked: Checked) -> None:
    for part in read_parts(file, key):
        if isinstance(part, TableRows):
            return
        if isinstance(part, Photo) and part.name not in checked.left_out:
            put_photo(part.name, part.jpeg)


def _lock() -> None:
    """Nobody registers while the rows come. SQLite took its write lock with the transaction."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
            cursor.execute(f"LOCK TABLE {User._meta.db_table} IN ACCESS EXCLUSIVE MODE")


def _load(file: BinaryIO, key: str) -> None:
    rebuilt = {apps.get_model(label)._meta.db_table for label in REBUILT}
    with connection.cursor() as cursor:
        for table in reversed(data_tables()):  # what accounts that are gone have left
            cursor.execute(f'DELETE FROM "{table.name}"')  # noqa: S608 - a name of our own
    loader = Loader()
    for part in read_parts(file, key):
        if isinstance(part, TableRows) and part.table.name not in rebuilt:
            loader.load(part)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
