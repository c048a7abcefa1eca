"""The single-valued fields of a merged person."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from people import field_table
from people.field_table import REMINDER_DEFAULTS, Merge
from people.models import Person

OVERRIDABLE: Mapping[str, str] = {field.name: field.column for field in field_table.SCALARS if not field.read_only}
"""What fieldOverrides may name, and its column."""

# What was typed is merged; the day of the latest interaction follows the interactions.
_TYPED = {"last_contact": "contact_before"}
_FILLED = tuple(
    _TYPED.get(field.attribute, field.attribute) for field in field_table.SCALARS if field.merge is Merge.FILL
)
_REMINDER = tuple(field.attribute for field in field_table.SCALARS if field.merge is Merge.REMINDER)

Change = tuple[Any, Any]


def merge_scalars(primary: Person, secondary: Person, overrides: Mapping[str, Any]) -> dict[str, Change]:
    """Set the merged values on `primary` (not saved); returns before and after of each column that changed.

    An empty field of the primary takes the secondary's, as does a UID that was made here; `overrides`, by column, come
    before both.
    """
    merged = {column: getattr(secondary, column) for column in _FILLED if getattr(primary, column) is None}
    if primary.has_own_uid and not secondary.has_own_uid:
        merged["uid"] = secondary.uid
    if secondary.contact_reminder_enabled and not primary.contact_reminder_enabled:
        merged |= {column: getattr(secondary, column) for column in _REMINDER}
    merged |= {_attribute(column): getattr(value, "pk", value) for column, value in overrides.items()}
    if merged.get("contact_reminder_enabled", primary.contact_reminder_enabled):
        for column, default in REMINDER_DEFAULTS.items():
            merged[column] = merged.get(column, getattr(primary, column)) or default
    changes: dict[str, Change] = {}
    for column, value in merged.items():
        before = getattr(primary, column)
        if value != before:
            changes[column] = (before, value)
            setattr(primary, column, value)
    return changes


def conflicts(person: Person, changes: Mapping[str, Change]) -> list[str]:
    """The columns that were changed again since."""
    return [column for column, (_, after) in changes.items() if getattr(person, column) != after]


def take_back(person: Person, changes: Mapping[str, Change]) -> None:
    """Set what was before (not saved)."""
    for column, (before, _) in changes.items():
        setattr(person, column, before)


def to_json(changes: Mapping[str, Change]) -> dict[str, list[Any]]:
    """Changes as the image holds them."""
    return {column: [_plain(value) for value in change] for column, change in changes.items()}


def from_json(stored: Mapping[str, list[Any]]) -> dict[str, Change]:
    """The inverse of to_json."""
    return {column: (_value(column, before), _value(column, after)) for column, (before, after) in stored.items()}


def _attribute(column: str) -> str:
    field: Any = Person._meta.get_field(_TYPED.get(column, column))
    return str(field.attname)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.date) else str(value) if isinstance(value, UUID) else value


def _value(attribute: str, value: Any) -> Any:
    field: Any = Person._meta.get_field(attribute)
    return field.to_python(value)
