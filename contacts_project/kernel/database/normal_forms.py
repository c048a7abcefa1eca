"""Rewrites stored texts in NFC, for the migrations of the apps. Older versions stored texts as they came."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Model

from contacts_project.kernel.json import Json
from contacts_project.kernel.text_forms import nfc

_ROWS_AT_ONCE = 500
_UPDATES_AT_ONCE = 50


def compose(value: Json) -> Json:
    """The value with all its texts in NFC. Lists and objects of JSON are walked, their keys included."""
    if isinstance(value, str):
        return nfc(value)
    if isinstance(value, list):
        return [compose(item) for item in value]
    if isinstance(value, dict):
        return {nfc(key): compose(item) for key, item in value.items()}
    return value


def iterate_rows(rows: Any, *columns: str) -> Iterator[list[Any]]:
    """All rows with these columns in chunks, in the order of their ids: one chunk is in memory at a time."""
    rows, last = rows.order_by("pk").only(*columns), None
    while chunk := list((rows if last is None else rows.filter(pk__gt=last))[:_ROWS_AT_ONCE]):
        yield chunk
        last = chunk[-1].pk


def compose_row(row: Model, *columns: str) -> bool:
    """Set the columns of a row to their texts in NFC; returns whether one changed.

    A text that becomes too long for its column stays: NFC takes a few letters apart.
    """
    composed = {column: compose(getattr(row, column)) for column in columns}
    changed = {
        column: value
        for column, value in composed.items()
        if value != getattr(row, column) and _fits(row, column, value)
    }
    for column, value in changed.items():
        setattr(row, column, value)
    return bool(changed)


def _fits(row: Any, column: str, value: Any) -> bool:
    limit = row._meta.get_field(column).max_length
    return not isinstance(value, str) or limit is None or len(value) <= limit


def compose_rows(model: Any, *columns: str) -> None:
    """Rewrite the columns of all rows that are not in NFC. Neither revisions nor times of the rows change."""
    for chunk in iterate_rows(model._base_manager, *columns):
        if changed := [row for row in chunk if compose_row(row, *columns)]:
            update_rows(model, changed, *columns)


def update_rows(model: Any, rows: list[Any], *columns: str) -> None:
    model._base_manager.bulk_update(rows, columns, batch_size=_UPDATES_AT_ONCE)
