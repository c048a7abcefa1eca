"""Restores a backup into an empty instance, or verifies it without changing anything.

That of an older version is upgraded first, in a subprocess with a temporary SQLite database, which is migrated to the
schema of the backup, filled, migrated to the current schema, and backed up. So every migration converts the restored
rows as it would have converted those of the instance.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from accounts.feed.cursor import start_revision_epochs
from accounts.models import User
from contacts_project.backup import container
from contacts_project.backup.container import BackupError, FrameWriter, read_frames
from contacts_project.backup.contents import Header, Totals, all_migrations, applied_migrations, migration_names
from contacts_project.backup.reader import Part, Photo, TableRows, VerifiedBackup, read_parts, verify_file
from contacts_project.backup.rows import RowLoader, open_snapshot, reset_sequences
from contacts_project.backup.tables import EXCLUDED_MODELS, data_tables
from contacts_project.backup.writer import create_file, new_header, write_rows
from contacts_project.kernel.database.migrations import (
    NewerDatabaseError,
    TooOldError,
    check_not_newer,
    check_tables,
    create_tables,
)
from contacts_project.kernel.database.triggers import without_triggers
from people.photos.files import put_photo

_LOCK_TIMEOUT_SECONDS = 10


def verify(path: Path, *, key: str, allow_plain: bool = False) -> VerifiedBackup:
    """Verify the whole file, and that this instance has its keys and knows its schema. Needs no database.

    Raises BackupError, also for a plain file where there is a key, unless `allow_plain`; OSError.
    """
    with path.open("rb") as file:
        verified = verify_file(file, key, allow_plain=allow_plain)
    if verified.undecryptable_secrets:
        raise BackupError(
            f"{verified.undecryptable_secrets} secrets in the backup are encrypted with a key that is not in "
            "ENCRYPTION_KEYS: append the keys of its instance. Nothing was changed."
        )
    has_current_schema(verified.header)
    return verified


def restore(path: Path, *, key: str, allow_plain: bool = False) -> VerifiedBackup:
    """Fill this empty instance, after creating its tables. Raises BackupError, OSError; then no row was written.

    The file is verified before the database is touched. Photos are written first, then, in one transaction, the rows
    that name them. If the process is killed in between, the instance is still empty, and the restore can be repeated.
    """
    verified = verify(path, key=key, allow_plain=allow_plain)
    _check_empty()
    _check_tables()
    if has_current_schema(verified.header):
        _fill_instance(path, key, verified, allow_plain=allow_plain)
    else:
        # Written by us, with the key where there is one.
        with upgraded_backup(path) as current:
            _fill_instance(current, key, verify(current, key=key), allow_plain=False)
    return verified


def has_current_schema(header: Header) -> bool:
    """Return False if the backup has an older schema. Raises BackupError if it has a newer or a too old one."""
    ours, theirs = all_migrations(), header.current_migrations
    if unknown := sorted(theirs - ours):
        text = f"The backup was made by a newer version ({header.version}): this one does not know {unknown[0]}."
        raise BackupError(f"{text} Nothing was changed.")
    return theirs == ours


def _check_empty() -> None:
    """Raises BackupError if the database has accounts, or does not answer. It may have no tables, or older ones."""
    try:
        if User._meta.db_table in connection.introspection.table_names() and User.objects.exists():
            raise BackupError("This instance is not empty: it has accounts. Restore into a new one.")
    except Error as error:
        raise BackupError(f"The database does not answer: {_first_line(error)}. Nothing was changed.") from error


def _check_tables() -> None:
    """Raises BackupError if a version writes in the database that is too old to be brought up to date, or newer."""
    try:
        check_tables(connection)
        check_not_newer(connection)
    except (TooOldError, NewerDatabaseError) as error:
        raise BackupError(str(error)) from None


def _prepare_tables() -> None:
    """Create the tables, or bring them up to date, as `serve` does at its start."""
    try:
        if applied_migrations() != all_migrations():
            call_command("migrate", verbosity=0, interactive=False)
    except Error as error:
        raise BackupError(f"The tables cannot be created: {_first_line(error)}.") from error


def _fill_instance(path: Path, key: str, verified: VerifiedBackup, *, allow_plain: bool) -> None:
    _prepare_tables()
    with path.open("rb") as file:
        _store_photos(read_parts(file, key, allow_plain=allow_plain), verified)
        try:
            with transaction.atomic():
                _lock_users()
                # Once more: somebody may have registered while the file was verified.
                _check_empty()
                # Triggers would count rows and write tombstones a second time: the backup contains theirs.
                with without_triggers():
                    _load_tables(read_parts(file, key, allow_plain=allow_plain))
                start_revision_epochs(timezone.now())
                reset_sequences()
        except Error as error:
            raise BackupError(f"The database rejected the data: {_first_line(error)}. Nothing was changed.") from error
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # the planner has no statistics of the new rows yet


def _store_photos(parts: Iterable[Part], verified: VerifiedBackup) -> None:
    for part in parts:
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


def _load_tables(parts: Iterable[Part]) -> None:
    # An earlier version with the same schema may have backed up tables that this one excludes.
    excluded = {apps.get_model(label)._meta.db_table for label in EXCLUDED_MODELS}
    with connection.cursor() as cursor:
        for table in reversed(data_tables()):  # deleted accounts may have left rows that belong to no account
            cursor.execute(f'DELETE FROM "{table.name}"')  # noqa: S608 - a name of our own
    loader = RowLoader()
    for part in parts:
        if isinstance(part, TableRows) and part.table.name not in excluded:
            loader.load(part)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


@contextmanager
def upgraded_backup(path: Path) -> Iterator[Path]:
    """Return a temporary file with the backup in the current schema. Raises BackupError.

    DATA_DIR needs space for another copy of the database and of the backup.
    """
    with tempfile.TemporaryDirectory(prefix="restore-", dir=settings.DATA_DIR) as folder:
        target = Path(folder) / "upgraded"
        command = [
            sys.executable,
            str(settings.BASE_DIR / "manage.py"),
            "upgrade_backup",
            str(path.resolve()),
            str(target),
        ]
        # A subprocess, since settings cannot be changed in this one. It gets the keys of this process, also where they
        # come from DATA_DIR, and must not reach its database, broker or photos.
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
            "DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/upgrade.sqlite3",
            "REDIS_URL": "",
            "PHOTO_STORAGE": "",
            "SECRET_KEY": settings.SECRET_KEY,
            "ENCRYPTION_KEYS": ",".join(settings.ENCRYPTION_KEYS),
            "BACKUP_KEY": settings.BACKUP_KEY,
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
            raise BackupError(f"The backup cannot be brought up to date: {reason}")
        yield target


def upgrade_file(old: Path, new: Path) -> None:
    """In the subprocess: fill its database, migrate it and write the new file. Raises BackupError.

    `restore` has decided before whether it takes a plain file.
    """
    if connection.introspection.table_names():
        raise BackupError("This command is only for restore, on a database without tables.")
    totals = load_with_old_schema(old, settings.BACKUP_KEY)
    call_command("migrate", verbosity=0, interactive=False)
    with old.open("rb") as file, create_file(new) as target, open_snapshot() as snapshot:
        frames = FrameWriter(target, settings.BACKUP_KEY)
        frames.write(container.HEADER, new_header().to_bytes())
        for frame in read_frames(file, settings.BACKUP_KEY, allow_plain=True):
            if frame.kind in {container.PHOTO, container.UNREFERENCED}:
                frames.write(*frame)
        totals.rows.clear()
        write_rows(frames, snapshot, totals)


def load_with_old_schema(old: Path, key: str) -> Totals:
    """Create the tables as they were when the backup was made, and fill them."""
    totals = Totals()
    with old.open("rb") as file:
        header = next(read_parts(file, key, allow_plain=True))
        if isinstance(header, Header):
            migrate_to(header.current_migrations)
        with transaction.atomic():
            loader = RowLoader()
            for part in read_parts(file, key, allow_plain=True):
                if isinstance(part, TableRows):
                    loader.load(part)
                elif isinstance(part, Totals):
                    totals = part
    return totals


def migrate_to(names: frozenset[str]) -> None:
    """Create the tables as these migrations, and no others, create them."""
    graph = MigrationLoader(connection).graph
    nodes = {node for node in graph.nodes if migration_names([node]) <= names}
    # The targets are the last migrations of each app: those that no other of the app builds on.
    followed = {parent.key for node in nodes for parent in graph.node_map[node].parents if parent.key[0] == node[0]}
    create_tables(connection, sorted(nodes - followed))
