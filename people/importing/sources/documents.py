"""Reads JSON documents of other products. No value in them can be trusted to have the expected type."""

import datetime as dt
from collections.abc import Iterator
from typing import BinaryIO

import orjson

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import MAX_DOCUMENT_VALUES, JsonMapping, JsonObject, has_too_many_values
from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import define_text

_TOO_MANY_VALUES = define_text(
    "export_too_many_values",
    "This export of %(product)s has more than %(limit)s values: export and import it in parts.",
)

_NOT_JSON = define_text("not_json_of_product", "This is no JSON document of %(product)s.")

# The limits that the API has for interactions: within them a time is a valid date in every time zone.
_EARLIEST = dt.datetime(1000, 1, 2, tzinfo=dt.UTC)
_LATEST = dt.datetime(9999, 12, 30, tzinfo=dt.UTC)


def read_document(file: BinaryIO, product: str) -> JsonObject:
    """Return the JSON object in a file. Raises FieldError if there is none, or if it has too many values."""
    file.seek(0)
    content = file.read().removeprefix(b"\xef\xbb\xbf")
    if has_too_many_values(content):
        raise too_many_values(product)
    try:
        document = orjson.loads(content)
    except (orjson.JSONDecodeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise FieldError("file", _NOT_JSON.format(product=product))
    return document


def too_many_values(product: str) -> FieldError:
    """The refusal of an export that would take too much memory."""
    return FieldError("file", _TOO_MANY_VALUES.format(product=product, limit=MAX_DOCUMENT_VALUES))


def get_text(record: JsonMapping, name: str) -> str:
    """Return a string or a number as text in NFC; empty if the value is missing or of another type."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return nfc(str(value))


def get_flag(record: JsonMapping, name: str) -> bool:
    return get_text(record, name) in {"1", "true"} or record.get(name) is True


def get_object(record: JsonMapping, name: str) -> JsonObject:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def get_objects(record: JsonMapping, name: str) -> Iterator[JsonObject]:
    """Yield the items of a list that are objects."""
    values = record.get(name)
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())


def parse_datetime(text: str) -> dt.datetime | None:
    """Parse an ISO time or a time as databases write it. A date becomes noon; without a time zone it is UTC.

    None if the text is no time, or not of the years 1000 to 9999.
    """
    try:
        at = dt.datetime.fromisoformat(text.strip()[:40])
    except ValueError:
        return None
    if len(text.strip()) <= len("2026-01-31"):
        at = at.replace(hour=12)
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    try:
        at = at.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
    return at if _EARLIEST <= at < _LATEST else None


def parse_number(text: str, bound: float) -> float | None:
    """Parse a number from -`bound` to `bound`; None if the text is something else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if -bound <= value <= bound else None
