"""Makes a backup: first the photos, then the rows of a snapshot whose photos were all written.

The database has snapshots, the files of photos have not. A photo never changes under its name, which is a hash of its
content, but its file is deleted when no row names it any more. So photos are read while a snapshot is open. If a file
has disappeared meanwhile, a new snapshot is opened, for which only the photos that are new since the last one have to
be read. The rows come from the first snapshot for which no photo was missing.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

import orjson
from django.conf import settings
from django.db import connection
from django.utils import timezone

from contacts_project.backup import container
from contacts_project.backup.container import BackupError, FrameWriter
from contacts_project.backup.contents import (
    MAX_ROW_BYTES,
    Header,
    Totals,
    all_migrations,
    applied_migrations,
    secret_key_proof,
)
from contacts_project.backup.rows import Snapshot, open_snapshot
from contacts_project.backup.tables import data_tables
from people.photos.files import read_photo
from people.photos.names import content_hash, photo_hash


class PhotoLedger:
    """Stores by name whether the photo was written, and the last round in which a row named it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database, self._round = database, 0
        database.execute("CREATE TABLE photos (name TEXT PRIMARY KEY, written INTEGER, round INTEGER) WITHOUT ROWID")

    def begin_round(self) -> None:
        self._round += 1

    def is_written(self, name: str) -> bool | None:
        """Return None for a name that was not seen in any round."""
        row = self._database.execute("SELECT written FROM photos WHERE name = ?", [name]).fetchone()
        return None if row is None else bool(row[0])

    def record(self, name: str, *, written: bool) -> None:
        """Record that a row of this round names the photo."""
        self._database.execute("INSERT OR REPLACE INTO photos VALUES (?, ?, ?)", [name, written, self._round])

    def unreferenced(self) -> Iterator[str]:
        """Return the names of written photos that no row of this round names."""
        rows = self._database.execute("SELECT name FROM photos WHERE written AND round < ?", [self._round])
        return (name for (name,) in rows)

    def count(self, *, written: bool) -> int:
        """Count the names of this round that were written, or were not."""
        query = "SELECT count(*) FROM photos WHERE written = ? AND round = ?"
        return int(self._database.execute(query, [written, self._round]).fetchone()[0])


@contextmanager
def open_photo_ledger() -> Iterator[PhotoLedger]:
    # An empty name makes SQLite use a temporary file, which it deletes when the connection is closed.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        # One transaction for all: a commit for each name would cost a write to the disk.
        database.execute("BEGIN")
        yield PhotoLedger(database)


_BLOCK_BYTES = 1024 * 1024
_NAMES_PER_FRAME = 10_000
_MAX_PHOTO_BYTES = container.MAX_DATA_BYTES - 1024  # the service's photos are far smaller: 256x256 pixels
_MAX_PHOTO_ROUNDS = 20


def write_backup(path: Path, *, key: str) -> Totals:
    """Write the whole instance to a new file, encrypted if `key` is not empty. Raises BackupError, OSError."""
    with create_file(path) as file, open_photo_ledger() as ledger, ExitStack() as stack:
        frames = FrameWriter(file, key)
        frames.write(container.HEADER, new_header().to_bytes())
        snapshot = _write_photos(frames, ledger, stack)
        totals = Totals(photos=ledger.count(written=True), missing_photos=ledger.count(written=False))
        write_rows(frames, snapshot, totals)
    return totals


def new_header() -> Header:
    """Return the header for a backup of this instance. Raises BackupError if migrations are missing."""
    applied = applied_migrations()
    if applied != all_migrations():
        raise BackupError("This instance is not migrated: run manage.py migrate first.")
    made_at = timezone.now().isoformat()
    return Header(made_at, settings.VERSION, connection.vendor, tuple(sorted(applied)), secret_key_proof(made_at))


def _write_photos(frames: FrameWriter, ledger: PhotoLedger, stack: ExitStack) -> Snapshot:
    """Write the photos and return the snapshot whose photos are written. It is open until `stack` is closed."""
    for number in count(1):
        snapshot = stack.enter_context(open_snapshot())
        is_incomplete = _write_round(frames, ledger, snapshot)
        # The limit is for an instance that deletes photos all the time: what is missing then is counted in the totals.
        if not is_incomplete or number == _MAX_PHOTO_ROUNDS:
            break
        stack.close()
    # Photos of earlier snapshots that the last one does not name: a written frame cannot be removed from the file.
    unreferenced = ledger.unreferenced()
    while names := list(islice(unreferenced, _NAMES_PER_FRAME)):
        frames.write(container.UNREFERENCED, orjson.dumps(names))
    return snapshot


def _write_round(frames: FrameWriter, ledger: PhotoLedger, snapshot: Snapshot) -> bool:
    """Write the photos that were not written yet. Returns whether a missing one may have been deleted meanwhile.

    A photo that was missing in the previous round already, and is still named, has no file at all.
    """
    is_incomplete = False
    ledger.begin_round()
    # People, accounts and the states that an undo restores have a column for a photo.
    tables = [table.name for table in data_tables() if any(column.name == "photo" for column in table.columns)]
    for table in tables:
        for name in snapshot.text_values(table, "photo"):
            is_written = ledger.is_written(name)
            photo = None if is_written else _read_valid_photo(name)
            if photo is not None:
                frames.write(container.PHOTO, name.encode() + b"\n" + photo)
            elif is_written is None:
                is_incomplete = True
            ledger.record(name, written=bool(is_written) or photo is not None)
    return is_incomplete


def _read_valid_photo(name: str) -> bytes | None:
    """Return None if there is no file, or if its content does not have the hash that is its name."""
    photo = read_photo(name)
    is_valid = photo is not None and len(photo) < _MAX_PHOTO_BYTES and content_hash(photo) == photo_hash(name)
    return photo if is_valid else None


def write_rows(frames: FrameWriter, snapshot: Snapshot, totals: Totals) -> None:
    """Write every table and the totals."""
    for table in data_tables():
        columns = [[column.name, column.encoding] for column in table.columns]
        frames.write(container.TABLE, orjson.dumps({"name": table.name, "columns": columns}))
        for block in _split_into_blocks(_count_rows(snapshot.lines(table), table.name, totals), _BLOCK_BYTES):
            frames.write(container.ROWS, block)
        frames.write(container.TABLE_END, orjson.dumps(totals.rows[table.name]))
    frames.write(container.END, totals.to_bytes())


def _count_rows(lines: Iterator[bytes], table: str, totals: Totals) -> Iterator[bytes]:
    totals.rows[table] = 0
    for line in lines:
        if len(line) > MAX_ROW_BYTES:
            raise BackupError(
                f"A row of {table} has more than {MAX_ROW_BYTES >> 20} MiB: that is more than restore accepts."
            )
        totals.rows[table] += 1
        yield line


def _split_into_blocks(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join lines, and cut long ones, into blocks of `size` bytes; the last block may be shorter."""
    block = bytearray()
    for line in lines:
        block += line
        while len(block) >= size:
            yield bytes(block[:size])
            del block[:size]
    if block:
        yield bytes(block)


@contextmanager
def create_file(path: Path) -> Iterator[BinaryIO]:
    """Write a new file that only its owner can read. It gets its name when it is complete and synced to the disk.

    Raises BackupError if the name is taken: an existing file is never overwritten.
    """
    if os.path.lexists(path):
        raise BackupError(f"{path} already exists: a backup never overwrites a file.")
    # mkstemp() makes it with mode 0600.
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb", buffering=1024 * 1024) as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        _rename_unless_exists(Path(draft), path)
    finally:
        with suppress(FileNotFoundError):
            Path(draft).unlink()
    # The new name is an entry of the folder, which has to be synced as well.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _rename_unless_exists(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)  # unlike rename() it fails if the name is taken
    except FileExistsError:
        raise BackupError(f"{path} already exists: a backup never overwrites a file.") from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise BackupError(f"{path} already exists: a backup never overwrites a file.") from None
        draft.rename(path)
