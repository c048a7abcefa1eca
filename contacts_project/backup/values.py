"""The values of columns: as a database hands them out raw, as they stand in a backup, as a database takes them.

| form | in the file |
|---|---|
| uuid | text with hyphens |
| time | ISO 8601, UTC, with Z; microseconds where there are any |
| date | ISO 8601 |
| bool, int, float, text | as JSON has them |
| decimal | text |
| json | its JSON text, as the database keeps it |
| bytes | base64 |
| count_key | text; an id, which triggers spell as their database does, with hyphens |
| secret | the token under ENCRYPTION_KEYS, as it is stored |
| content_type, permission | `app.model`, `app.model.codename`: their ids differ between instances |
"""

import base64
import datetime as dt
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson

from contacts_project.backup.tables import Table

Convert = Callable[[Any], Any]
_BARE = re.compile(r"[0-9a-f]{32}")
_OPTIONS = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z


def to_line(row: tuple[Any, ...], converts: list[tuple[int, Convert]]) -> bytes:
    """A row as a line of JSON; `converts` are those of `from_database`."""
    values = list(row)
    for place, convert in converts:
        if values[place] is not None:
            values[place] = convert(values[place])
    return orjson.dumps(values, default=_other, option=_OPTIONS) + b"\n"


def _other(value: Any) -> str:
    if isinstance(value, bytes | memoryview | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError


def from_database(table: Table, vendor: str) -> list[tuple[int, Convert]]:
    """What orjson cannot make of the driver's values by itself: the place in the row, and how."""
    forms: dict[str, Convert] = {"decimal": str}
    if vendor == "sqlite":
        forms |= {"uuid": _hyphenated, "count_key": _hyphenated_id}
    return [(place, forms[column.form]) for place, column in enumerate(table.columns) if column.form in forms]


def to_database(table: Table, vendor: str) -> list[tuple[int, Convert]]:
    """How to make the driver's values; they raise ValueError, TypeError or AttributeError for what has another form."""
    forms: dict[str, Convert] = {"bytes": base64.b64decode}
    if vendor == "sqlite":
        forms |= {"uuid": lambda text: uuid.UUID(text).hex, "time": _sqlite_time, "count_key": _bare_id}
    return [(place, forms[column.form]) for place, column in enumerate(table.columns) if column.form in forms]


def _hyphenated(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _hyphenated_id(text: str) -> str:
    return _hyphenated(text) if _BARE.fullmatch(text) else text


def _bare_id(text: str) -> str:
    bare = text.replace("-", "")
    return bare if len(text) == 36 and _BARE.fullmatch(bare) else text


def _sqlite_time(text: str) -> str:
    """As Django writes it: it is compared as text."""
    return str(dt.datetime.fromisoformat(text).astimezone(dt.UTC).replace(tzinfo=None))
