"""Reads a backup part by part, and verifies everything that can be verified without a database."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

import orjson

from contacts_project.backup import container
from contacts_project.backup.container import DamagedError, Frame, read_frames
from contacts_project.backup.contents import MAX_ROW_BYTES, Header, Totals, parse_header, parse_totals
from contacts_project.backup.tables import ENCODINGS, BackupTable, Column
from contacts_project.kernel.crypto.fields import can_decrypt
from contacts_project.kernel.json import Json
from people.photos.names import content_hash, is_photo_name, photo_hash

_SQL_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Photo:
    name: str
    jpeg: bytes


@dataclass(frozen=True)
class UnreferencedPhotos:
    """Photos that are in the file, but that no row names any more."""

    names: frozenset[str]


@dataclass(frozen=True)
class TableRows:
    """A table and its rows. The rows must be read before the next part."""

    table: BackupTable
    rows: Iterator[list[Any]]


Part = Header | Photo | UnreferencedPhotos | TableRows | Totals


@dataclass
class VerifiedBackup:
    """What a complete and undamaged file contains.

    `undecryptable_secrets` counts the stored secrets that no key of ENCRYPTION_KEYS can decrypt.
    """

    header: Header
    totals: Totals = field(default_factory=Totals)
    unreferenced_photos: frozenset[str] = frozenset()
    undecryptable_secrets: int = 0


def read_parts(file: BinaryIO, key: str, *, allow_plain: bool = False) -> Iterator[Part]:
    """Return the header, the photos, the tables and the totals, in this order. Raises BackupError, DamagedError."""
    frames = read_frames(file, key, allow_plain=allow_plain)
    first = next(frames)
    if first.kind != container.HEADER:
        raise DamagedError("it does not begin with its header")
    yield parse_header(first.data)
    for frame in frames:
        if frame.kind == container.PHOTO:
            yield _parse_photo(frame.data)
        elif frame.kind == container.UNREFERENCED:
            yield UnreferencedPhotos(frozenset(map(str, _parse_json(frame.data, list))))
        elif frame.kind == container.TABLE:
            table = _parse_table(frame.data)
            yield TableRows(table, rows := _read_rows(frames, table))
            for _ in rows:  # rows that the caller has not read would be taken for the next part
                pass
        elif frame.kind == container.END:
            yield parse_totals(frame.data)
        else:
            raise DamagedError("its parts stand in no order that makes sense")


def verify_file(file: BinaryIO, key: str, *, allow_plain: bool = False) -> VerifiedBackup:
    """Read the whole file, including every row. Raises BackupError, DamagedError."""
    parts = read_parts(file, key, allow_plain=allow_plain)
    header = next(parts)
    if not isinstance(header, Header):
        raise DamagedError("it has no header")
    verified, counted = VerifiedBackup(header), Totals()
    for part in parts:
        if isinstance(part, Photo):
            counted.photos += 1
        elif isinstance(part, UnreferencedPhotos):
            verified.unreferenced_photos |= part.names
        elif isinstance(part, TableRows):
            counted.rows[part.table.name], undecryptable = _count_rows(part)
            verified.undecryptable_secrets += undecryptable
        elif isinstance(part, Totals):
            verified.totals = part
    counted.photos -= len(verified.unreferenced_photos)
    if (counted.rows, counted.photos) != (verified.totals.rows, verified.totals.photos):
        raise DamagedError("it does not hold as much as its end says")
    return verified


def _count_rows(part: TableRows) -> tuple[int, int]:
    """Return the number of rows, and of secrets in them that cannot be decrypted."""
    secrets = [index for index, column in enumerate(part.table.columns) if column.encoding == "secret"]
    rows = undecryptable = 0
    for row in part.rows:
        rows += 1
        undecryptable += sum(1 for index in secrets if row[index] is not None and not can_decrypt(row[index]))
    return rows, undecryptable


def _parse_photo(data: bytes) -> Photo:
    line, _, jpeg = data.partition(b"\n")
    name = line.decode(errors="replace")
    # The name becomes the name of a file: only names that the service makes itself are safe.
    if not is_photo_name(name) or content_hash(jpeg) != photo_hash(name):
        raise DamagedError("a photo is not what its name says")
    return Photo(name, jpeg)


def _parse_table(data: bytes) -> BackupTable:
    fields = _parse_json(data, dict)
    try:
        columns = tuple(Column(name, encoding) for name, encoding in fields["columns"])
        names = [fields["name"], *(column.name for column in columns)]
        # The names become part of SQL statements.
        is_known = (
            all(_SQL_NAME.fullmatch(name) for name in names) and {column.encoding for column in columns} <= ENCODINGS
        )
    except (KeyError, TypeError, ValueError):
        is_known = False
    if not is_known:
        raise DamagedError("a table is described in a way that is not understood")
    return BackupTable(fields["name"], columns)


def _read_rows(frames: Iterator[Frame], table: BackupTable) -> Iterator[list[Json]]:
    for line in _read_lines(frames, table):
        row = _parse_json(line, list)
        if len(row) != len(table.columns):
            raise DamagedError(f"a row of {table.name} has another number of columns")
        yield row


def _read_lines(frames: Iterator[Frame], table: BackupTable) -> Iterator[bytes]:
    """Return the lines of a table, up to the frame TABLE_END, which contains their number."""
    # A line may begin in one frame and continue in the next ones: `rest` is its beginning.
    rest, number = bytearray(), 0
    for frame in frames:
        if frame.kind == container.TABLE_END:
            if rest or _parse_json(frame.data, int) != number:
                raise DamagedError(f"rows of {table.name} are missing")
            return
        if frame.kind != container.ROWS or len(rest) > MAX_ROW_BYTES:
            raise DamagedError(f"the rows of {table.name} have no end")
        *lines, tail = frame.data.split(b"\n")
        for line in lines:
            yield bytes(rest) + line if rest else line
            rest.clear()
            number += 1
        rest += tail


Parsed = TypeVar("Parsed")


def _parse_json(data: bytes, kind: type[Parsed]) -> Parsed:
    try:
        value = orjson.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise DamagedError("a part cannot be read")
    return value
