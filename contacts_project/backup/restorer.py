"""Restores a backup into an empty instance, or verifies it without changing anything."""

from pathlib import Path
from typing import BinaryIO

from django.apps import apps
from django.db import Error, connection, transaction
from django.utils import timezone

from accounts.feed.cursor import start_revision_epochs
from accounts.models import User
from contacts_project.backup.container import BackupError
from contacts_project.backup.contents import Header, applied_migrations, known_migrations
from contacts_project.backup.loading import RowLoader, reset_sequences
from contacts_project.backup.reader import Photo, TableRows, VerifiedBackup, read_parts, verify_file
from contacts_project.backup.tables import EXCLUDED_MODELS, data_tables
from contacts_project.backup.upgrade import upgraded_backup
from contacts_project.kernel.database.triggers import without_triggers
from people.photos.files import put_photo

_LOCK_TIMEOUT_SECONDS = 10


def verify(path: Path, *, key: str) -> VerifiedBackup:
    """Verify the whole file, and that this instance has its keys and knows its schema. Raises BackupError, OSError."""
    with path.open("rb") as file:
        verified = verify_file(file, key)
    if verified.undecryptable_secrets:
        raise BackupError(
            f"{verified.undecryptable_secrets} secrets in the backup are encrypted with a key that is not in "
            "ENCRYPTION_KEYS: append the keys of its instance. Nothing was changed."
        )
    has_current_schema(verified.header)
    return verified


def restore(path: Path, *, key: str) -> VerifiedBackup:
    """Fill this empty instance. Raises BackupError, OSError; in that case no row was written.

    Photos are written first, then, in one transaction, the rows that name them. If the process is killed in between,
    the instance is still empty, and the restore can be repeated.
    """
    _check_empty()
    verified = verify(path, key=key)
    if has_current_schema(verified.header):
        _fill_instance(path, key, verified)
    else:
        with upgraded_backup(path) as current:
            _fill_instance(current, key, verify(current, key=key))
    return verified


def has_current_schema(header: Header) -> bool:
    """Return False if the backup has an older schema. Raises BackupError if it has a newer one."""
    ours, theirs = known_migrations(), frozenset(header.migrations)
    if unknown := sorted(theirs - ours):
        text = f"The backup was made by a newer version ({header.version}): this one does not know {unknown[0]}."
        raise BackupError(f"{text} Nothing was changed.")
    return theirs == ours


def _check_empty() -> None:
    try:
        if applied_migrations() != known_migrations():
            raise BackupError("This instance is not migrated: run manage.py migrate first.")
        if User.objects.exists():
            raise BackupError("This instance is not empty: it has accounts. Restore into a new one.")
    except Error as error:
        raise BackupError(f"The database does not answer: {_first_line(error)}") from error


def _fill_instance(path: Path, key: str, verified: VerifiedBackup) -> None:
    with path.open("rb") as file:
        _store_photos(file, key, verified)
        try:
            with transaction.atomic():
                _lock_users()
                # Once more: somebody may have registered while the file was verified.
                _check_empty()
                # Triggers would count rows and write tombstones a second time: the backup contains theirs.
                with without_triggers():
                    _load_tables(file, key)
                start_revision_epochs(timezone.now())
                reset_sequences()
        except Error as error:
            raise BackupError(f"The database rejected the data: {_first_line(error)}. Nothing was changed.") from error
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # the planner has no statistics of the new rows yet


def _store_photos(file: BinaryIO, key: str, verified: VerifiedBackup) -> None:
    for part in read_parts(file, key):
        if isinstance(part, TableRows):
            return
        if isinstance(part, Photo) and part.name not in verified.unreferenced_photos:
            put_photo(part.name, part.jpeg)


def _lock_users() -> None:
    """Prevent registrations during the restore. On SQLite the transaction has the write lock already."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT_SECONDS}s'")
            cursor.execute(f"LOCK TABLE {User._meta.db_table} IN ACCESS EXCLUSIVE MODE")


def _load_tables(file: BinaryIO, key: str) -> None:
    # An earlier version with the same schema may have backed up tables that this one excludes.
    excluded = {apps.get_model(label)._meta.db_table for label in EXCLUDED_MODELS}
    with connection.cursor() as cursor:
        for table in reversed(data_tables()):  # deleted accounts may have left rows that belong to no account
            cursor.execute(f'DELETE FROM "{table.name}"')  # noqa: S608 - a name of our own
    loader = RowLoader()
    for part in read_parts(file, key):
        if isinstance(part, TableRows) and part.table.name not in excluded:
            loader.load(part)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
