"""Reads and writes backup files for the tests."""

from pathlib import Path
from typing import Any

import orjson
from django.core.management import call_command

from contacts_project.backup.container import Frame, FrameWriter, read_frames
from contacts_project.backup.reader import Photo, TableRows, UnreferencedPhotos, read_parts

Rows = dict[str, list[Any]]


def rows_of(path: Path, key: str = "", *, with_revisions: bool = True) -> Rows:
    """The rows of each table, sorted, with JSON columns parsed, because databases format JSON differently.

    Without `with_revisions`, the revision of accounts is None, because each restore raises it.
    """
    tables: Rows = {}
    with path.open("rb") as file:
        for part in read_parts(file, key):
            if isinstance(part, TableRows):
                json = [place for place, column in enumerate(part.table.columns) if column.encoding == "json"]
                moved = [
                    place
                    for place, column in enumerate(part.table.columns)
                    if (part.table.name, column.name) == ("accounts_user", "revision") and not with_revisions
                ]
                rows = [_normalize_row(row, json, moved) for row in part.rows]
                tables[part.table.name] = sorted(rows, key=orjson.dumps)
    return tables


def _normalize_row(row: list[Any], json: list[int], moved: list[int]) -> list[Any]:
    for place in moved:
        row[place] = None
    for place in json:
        row[place] = orjson.loads(row[place]) if row[place] is not None else None
    return row


def photos_of(path: Path, key: str = "") -> dict[str, bytes]:
    """The photos that a restore would store, by name."""
    photos: dict[str, bytes] = {}
    with path.open("rb") as file:
        for part in read_parts(file, key):
            if isinstance(part, Photo):
                photos[part.name] = part.jpeg
            elif isinstance(part, UnreferencedPhotos):
                photos = {name: jpeg for name, jpeg in photos.items() if name not in part.names}
    return photos


def frames_of(path: Path, key: str = "") -> list[Frame]:
    with path.open("rb") as file:
        return list(read_frames(file, key))


def write_frames(path: Path, frames: list[Frame], key: str = "") -> Path:
    """Write a valid backup file with these frames; returns its path."""
    with path.open("wb") as file:
        writer = FrameWriter(file, key)
        for frame in frames:
            writer.write(*frame)
    return path


def empty_database_and_migrate() -> None:
    """Flush the database and create the rows of migrations again; no accounts are left."""
    call_command("flush", verbosity=0, interactive=False)
