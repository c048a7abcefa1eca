"""Reads a backup part by part, and checks all that can be known without a database."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import orjson

from contacts_project.backup import container
from contacts_project.backup.container import DamagedError, Frame, read_frames
from contacts_project.backup.contents import MAX_ROW, Header, Totals, read_header, read_totals
from contacts_project.backup.tables import FORMS, Column, Table
from contacts_project.kernel.crypto.keyring import UndecryptableError, decrypt
from people.photos.files import content_hash, is_photo_name, photo_hash

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Photo:
    name: str
    jpeg: bytes


@dataclass(frozen=True)
class LeftOut:
    """Photos of the file that no row names."""

    names: frozenset[str]


@dataclass(frozen=True)
class TableRows:
    """A table with its rows, which are there until the next part is asked for."""

    table: Table
    rows: Iterator[list[Any]]


Part = Header | Photo | LeftOut | TableRows | Totals


@dataclass
class Checked:
    """A file that is whole. `sealed_secrets`: how many stored secrets no key of ENCRYPTION_KEYS opens."""

    header: Header
    totals: Totals = field(default_factory=Totals)
    left_out: frozenset[str] = frozenset()
    sealed_secrets: int = 0


def read_parts(file: BinaryIO, key: str) -> Iterator[Part]:
    """The header, the photos, the tables and the totals, in this order. Raises BackupError, DamagedError."""
    frames = read_frames(file, key)
    first = next(frames)
    if first.kind != container.HEADER:
        raise DamagedError("it does not begin with its header")
    yield read_header(first.data)
    for frame in frames:
        if frame.kind == container.PHOTO:
            yield _photo(frame.data)
        elif frame.kind == container.LEFT_OUT:
            yield LeftOut(frozenset(map(str, _parsed(frame.data, list))))
        elif frame.kind == container.TABLE:
            table = _table(frame.data)
            yield TableRows(table, rows := _rows(frames, table))
            for _ in rows:  # what the caller has not read
                pass
        elif frame.kind == container.END:
            yield read_totals(frame.data)
        else:
            raise DamagedError("its parts stand in no order that makes sense")


def check_file(file: BinaryIO, key: str) -> Checked:
    """Read all of it, to the last row. Raises BackupError, DamagedError."""
    parts = read_parts(file, key)
    header = next(parts)
    if not isinstance(header, Header):
        raise DamagedError("it has no header")
    checked, counted = Checked(header), Totals()
    for part in parts:
        if isinstance(part, Photo):
            counted.photos += 1
        elif isinstance(part, LeftOut):
            checked.left_out |= part.names
        elif isinstance(part, TableRows):
            counted.rows[part.table.name], sealed = _check_rows(part)
            checked.sealed_secrets += sealed
        elif isinstance(part, Totals):
            checked.totals = part
    counted.photos -= len(checked.left_out)
    if (counted.rows, counted.photos) != (checked.totals.rows, checked.totals.photos):
        raise DamagedError("it does not hold as much as its end says")
    return checked


def _check_rows(part: TableRows) -> tuple[int, int]:
    """How many rows, and how many secrets that cannot be opened."""
    secrets = [place for place, column in enumerate(part.table.columns) if column.form == "secret"]
    number = sealed = 0
    for row in part.rows:
        number += 1
        sealed += sum(1 for place in secrets if row[place] is not None and not _opens(row[place]))
    return number, sealed


def _opens(token: str) -> bool:
    try:
        decrypt(token)
    except UndecryptableError:
        return False
    return True


def _photo(data: bytes) -> Photo:
    told, _, jpeg = data.partition(b"\n")
    name = told.decode(errors="replace")
    if not is_photo_name(name) or content_hash(jpeg) != photo_hash(name):
        raise DamagedError("a photo is not what its name says")
    return Photo(name, jpeg)


def _table(data: bytes) -> Table:
    told = _parsed(data, dict)
    try:
        columns = tuple(Column(name, form) for name, form in told["columns"])
        names = [told["name"], *(column.name for column in columns)]
        is_known = all(_NAME.fullmatch(name) for name in names) and {column.form for column in columns} <= FORMS
    except (KeyError, TypeError, ValueError):
        is_known = False
    if not is_known:
        raise DamagedError("a table is described in a way that is not understood")
    return Table(told["name"], columns)


def _rows(frames: Iterator[Frame], table: Table) -> Iterator[list[Any]]:
    for line in _lines(frames, table):
        row = _parsed(line, list)
        if len(row) != len(table.columns):
            raise DamagedError(f"a row of {table.name} has another number of columns")
        yield row


def _lines(frames: Iterator[Frame], table: Table) -> Iterator[bytes]:
    """The lines of a table, which end where a frame says how many they are."""
    rest, number = bytearray(), 0
    for frame in frames:
        if frame.kind == container.TABLE_END:
            if rest or _parsed(frame.data, int) != number:
                raise DamagedError(f"rows of {table.name} are missing")
            return
        if frame.kind != container.ROWS or len(rest) > MAX_ROW:
            raise DamagedError(f"the rows of {table.name} have no end")
        *lines, tail = frame.data.split(b"\n")
        for line in lines:
            yield bytes(rest) + line if rest else line
            rest.clear()
            number += 1
        rest += tail


def _parsed(data: bytes, kind: type[Any]) -> Any:
    try:
        value = orjson.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise DamagedError("a part cannot be read")
    return value
