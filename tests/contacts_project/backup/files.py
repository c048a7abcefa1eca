"""Backups as the tests look at them and make them."""

from pathlib import Path
from typing import Any

import orjson
from django.core.management import call_command

from contacts_project.backup.container import Frame, FrameWriter, read_frames
from contacts_project.backup.reader import Photo, TableRows, UnreferencedPhotos, read_parts

Rows = dict[str, list[Any]]


def rows_of(path: Path, key: str = "", *, with_revisions: bool = True) -> Rows:
    """Every row by table, in the order of the ids; JSON parsed, since databases spell it differently.

    `with_revisions`: those of accounts, which each restore moves on.
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
                rows = [_spelled(row, json, moved) for row in part.rows]
                tables[part.table.name] = sorted(rows, key=orjson.dumps)
    return tables


def _spelled(row: list[Any], json: list[int], moved: list[int]) -> list[Any]:
    for place in moved:
        row[place] = None
    for place in json:
        row[place] = orjson.loads(row[place]) if row[place] is not None else None
    return row


def photos_of(path: Path, key: str = "") -> dict[str, bytes]:
    """The photos that a restore would store."""
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
    """A file with these contents, sealed as it should be."""
    with path.open("wb") as file:
        writer = FrameWriter(file, key)
        for frame in frames:
            writer.write(*frame)
    return path


def empty_the_database() -> None:
    """Leave a migrated database without accounts."""
    call_command("flush", verbosity=0, interactive=False)
