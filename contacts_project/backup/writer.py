"""Makes a backup: the photos first, then the rows of a moment whose photos are all there.

Photos never change under their name, which is the hash of what is in them, but their files go when no row names them
any more. So photos are read while a snapshot is open; when one has gone meanwhile, a new snapshot is opened, which
needs only what is new since the last. The rows come from the snapshot for which nothing was wanting.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
    MAX_ROW,
    Header,
    Totals,
    applied_migrations,
    known_migrations,
    proof_of_secret_key,
)
from contacts_project.backup.photo_ledger import PhotoLedger, open_photo_ledger
from contacts_project.backup.snapshot import Snapshot, in_blocks, open_snapshot
from contacts_project.backup.tables import data_tables
from people.photos.files import content_hash, photo_hash, read_photo

_BLOCK = 1024 * 1024
_NAMES_AT_ONCE = 10_000
_MOST_PHOTO = container.MAX_DATA - 1024  # bytes; what we make has 256x256 pixels
_MOST_ROUNDS = 20


def write_backup(path: Path, *, key: str) -> Totals:
    """Write the whole instance to a new file, encrypted with `key` where there is one. Raises BackupError, OSError."""
    with new_file(path) as file, open_photo_ledger() as ledger, ExitStack() as stack:
        frames = FrameWriter(file, key)
        frames.write(container.HEADER, new_header().to_bytes())
        snapshot = _write_photos(frames, ledger, stack)
        totals = Totals(photos=ledger.count(written=True), missing_photos=ledger.count(written=False))
        write_rows(frames, snapshot, totals)
    return totals


def new_header() -> Header:
    """Of this instance, now. Raises BackupError where it is not migrated."""
    applied = applied_migrations()
    if applied != known_migrations():
        raise BackupError("This instance is not migrated: run manage.py migrate first.")
    made_at = timezone.now().isoformat()
    return Header(made_at, settings.VERSION, connection.vendor, tuple(sorted(applied)), proof_of_secret_key(made_at))


def _write_photos(frames: FrameWriter, ledger: PhotoLedger, stack: ExitStack) -> Snapshot:
    """Write the photos and return the snapshot that needs no other; it is open until the stack ends."""
    for number in count(1):
        snapshot = stack.enter_context(open_snapshot())
        if not _write_round(frames, ledger, snapshot) or number == _MOST_ROUNDS:
            break
        stack.close()
    superfluous = ledger.superfluous()
    while names := list(islice(superfluous, _NAMES_AT_ONCE)):
        frames.write(container.LEFT_OUT, orjson.dumps(names))
    return snapshot


def _write_round(frames: FrameWriter, ledger: PhotoLedger, snapshot: Snapshot) -> bool:
    """Write what the ledger has not; whether photos were wanting that may have gone since the snapshot was opened.

    What was wanting in the round before, and is still named, is not there at all.
    """
    has_gone = False
    ledger.begin_round()
    for table, column in _photo_columns():
        for name in snapshot.texts(table, column):
            known = ledger.is_written(name)
            photo = None if known else _whole_photo(name)
            if photo is not None:
                frames.write(container.PHOTO, name.encode() + b"\n" + photo)
            elif known is None:
                has_gone = True
            ledger.note(name, written=bool(known) or photo is not None)
    return has_gone


def _photo_columns() -> list[tuple[str, str]]:
    """The columns that name photos: of people, accounts and what can be undone."""
    return [(table.name, column.name) for table in data_tables() for column in table.columns if column.name == "photo"]


def _whole_photo(name: str) -> bytes | None:
    """None where there is no file, or what is in it is not what its name says."""
    photo = read_photo(name)
    is_whole = photo is not None and len(photo) < _MOST_PHOTO and content_hash(photo) == photo_hash(name)
    return photo if is_whole else None


def write_rows(frames: FrameWriter, snapshot: Snapshot, totals: Totals) -> None:
    """Write every table and the end."""
    for table in data_tables():
        columns = [[column.name, column.form] for column in table.columns]
        frames.write(container.TABLE, orjson.dumps({"name": table.name, "columns": columns}))
        for block in in_blocks(_counted(snapshot.lines(table), table.name, totals), _BLOCK):
            frames.write(container.ROWS, block)
        frames.write(container.TABLE_END, orjson.dumps(totals.rows[table.name]))
    frames.write(container.END, totals.to_bytes())


def _counted(lines: Iterator[bytes], table: str, totals: Totals) -> Iterator[bytes]:
    totals.rows[table] = 0
    for line in lines:
        if len(line) > MAX_ROW:
            raise BackupError(f"A row of {table} has more than {MAX_ROW >> 20} MiB: that is more than restore takes.")
        totals.rows[table] += 1
        yield line


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that nobody else may read, under its name when it is whole and on the disk; what has the name stays.

    Raises BackupError where the name is taken.
    """
    if os.path.lexists(path):
        raise BackupError(f"{path} exists already: a backup never takes the place of a file.")
    number, draft = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb", buffering=1024 * 1024) as file:
            yield file
            file.flush()
            os.fsync(number)
        _publish(Path(draft), path)
    finally:
        with suppress(FileNotFoundError):
            Path(draft).unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _publish(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)  # unlike a renaming it takes nobody's place
    except FileExistsError:
        raise BackupError(f"{path} exists already: a backup never takes the place of a file.") from None
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise BackupError(f"{path} exists already: a backup never takes the place of a file.") from None
        draft.rename(path)
