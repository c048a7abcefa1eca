"""Upgrades the backup of an older version, in a subprocess with a temporary SQLite database.

The database is migrated to the schema of the backup, filled, migrated to the current schema, and backed up. So every
migration converts the restored rows as it would have converted those of the instance.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from contacts_project.backup import container
from contacts_project.backup.container import BackupError, FrameWriter, read_frames
from contacts_project.backup.contents import Header, Totals, migration_names
from contacts_project.backup.loading import RowLoader
from contacts_project.backup.reader import TableRows, read_parts
from contacts_project.backup.snapshot import open_snapshot
from contacts_project.backup.writer import create_file, new_header, write_rows
from contacts_project.kernel.database.migrations import create_tables

_UPGRADE_COMMAND = "upgrade_backup"


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
            _UPGRADE_COMMAND,
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
