"""Converts the values of columns between a database driver and the backup file.

| encoding | in the file |
|---|---|
| uuid | text with hyphens |
| time | ISO 8601, UTC, with Z; with microseconds if there are any |
| date | ISO 8601 |
| bool, int, float, text | as in JSON |
| decimal | text |
| json | its JSON text, as the database stores it |
| bytes | base64 |
| count_key | text; an id is written with hyphens, though triggers on SQLite write it without |
| secret | the stored token, encrypted under ENCRYPTION_KEYS |
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

Converter = Callable[[Any], Any]
_BARE_UUID = re.compile(r"[0-9a-f]{32}")
_JSON_OPTIONS = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z


def serialize_row(row: tuple[object, ...], converters: list[tuple[int, Converter]]) -> bytes:
    """Return the row as a line of JSON; `converters` are the `export_converters` of its table."""
    values = list(row)
    for index, convert in converters:
        if values[index] is not None:
            values[index] = convert(values[index])
    return orjson.dumps(values, default=_encode_non_json_value, option=_JSON_OPTIONS) + b"\n"


def _encode_non_json_value(value: object) -> str:
    if isinstance(value, bytes | memoryview | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError


def export_converters(table: Table, vendor: str) -> list[tuple[int, Converter]]:
    """Return index and converter of the columns whose driver values orjson would not encode as the file needs them."""
    by_encoding: dict[str, Converter] = {"decimal": str}
    if vendor == "sqlite":
        by_encoding |= {"uuid": _uuid_with_hyphens, "count_key": _count_key_with_hyphens}
    return _converters_by_index(table, by_encoding)


def import_converters(table: Table, vendor: str) -> list[tuple[int, Converter]]:
    """Return index and converter of the columns whose values the driver does not take as they are in the file.

    The converters raise ValueError, TypeError or AttributeError for a value of another type.
    """
    by_encoding: dict[str, Converter] = {"bytes": base64.b64decode}
    if vendor == "sqlite":
        by_encoding |= {
            "uuid": lambda text: uuid.UUID(text).hex,
            "time": _format_sqlite_time,
            "count_key": _count_key_without_hyphens,
        }
    return _converters_by_index(table, by_encoding)


def _converters_by_index(table: Table, by_encoding: dict[str, Converter]) -> list[tuple[int, Converter]]:
    encodings = ((index, column.encoding) for index, column in enumerate(table.columns))
    return [(index, by_encoding[encoding]) for index, encoding in encodings if encoding in by_encoding]


def _uuid_with_hyphens(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _count_key_with_hyphens(text: str) -> str:
    return _uuid_with_hyphens(text) if _BARE_UUID.fullmatch(text) else text


def _count_key_without_hyphens(text: str) -> str:
    bare = text.replace("-", "")
    return bare if len(text) == 36 and _BARE_UUID.fullmatch(bare) else text


def _format_sqlite_time(text: str) -> str:
    # Exactly Django's format: SQLite compares times as text.
    return str(dt.datetime.fromisoformat(text).astimezone(dt.UTC).replace(tzinfo=None))
