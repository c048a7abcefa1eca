"""The single-valued fields of a merged person."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from people import field_table
from people.field_table import REMINDER_DEFAULTS, Merge
from people.models import Person
from people.services.group_rules import RULED_COLUMNS, drop_removed_source

OVERRIDABLE_COLUMNS: Mapping[str, str] = {
    field.name: field.column for field in field_table.SCALARS if not field.read_only
}
"""Columns by the JSON names that `fieldOverrides` accepts."""

# `last_contact` is computed from a typed day and the interactions. The typed day is merged; interactions move.
_STORED_ATTRIBUTES = {"last_contact": "contact_before"}
_FILLED_ATTRIBUTES = tuple(
    _STORED_ATTRIBUTES.get(field.attribute, field.attribute)
    for field in field_table.SCALARS
    if field.merge is Merge.FILL
)
_REMINDER_ATTRIBUTES = (
    *(field.attribute for field in field_table.SCALARS if field.merge is Merge.REMINDER),
    "contact_reminder_from_id",
)
_COMBINED_ATTRIBUTES: Mapping[str, Callable[[Iterable[bool]], bool]] = {
    field.attribute: any if field.merge is Merge.ANY else all
    for field in field_table.SCALARS
    if field.merge in {Merge.ANY, Merge.ALL}
}

Change = tuple[Any, Any]
"""The value before the merge, and the value after it."""


def merge_scalars(primary: Person, secondary: Person, overrides: Mapping[str, object]) -> dict[str, Change]:
    """Set the merged values on `primary` (not saved); returns the change of each column by its attribute.

    An empty field of the primary takes the secondary's value, and a flag is set if one of them or both have it, as the
    table says; `overrides`, values by column, take precedence over both.
    """
    merged = {column: getattr(secondary, column) for column in _FILLED_ATTRIBUTES if getattr(primary, column) is None}
    merged |= {
        column: combine((getattr(primary, column), getattr(secondary, column)))
        for column, combine in _COMBINED_ATTRIBUTES.items()
    }
    # Other devices know a UID that came from a card; one that this server generated can be replaced.
    if primary.has_derived_uid and not secondary.has_derived_uid:
        merged["uid"] = secondary.uid
    # The reminder's columns only make sense together, so they are taken all or none.
    if secondary.contact_reminder_enabled and not primary.contact_reminder_enabled:
        merged |= {column: getattr(secondary, column) for column in _REMINDER_ATTRIBUTES}
    merged |= {_attribute(column): getattr(value, "pk", value) for column, value in overrides.items()}
    if not overrides.keys().isdisjoint(RULED_COLUMNS):
        merged["contact_reminder_from_id"] = None  # chosen by the owner
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


def reminder_values(person: Person) -> dict[str, object]:
    """The contact reminder, which rules of groups may set after `merge_scalars`."""
    return {column: getattr(person, column) for column in _REMINDER_ATTRIBUTES}


def changes_since(person: Person, before: Mapping[str, object]) -> dict[str, Change]:
    """How these columns have changed."""
    now = {column: getattr(person, column) for column in before}
    return {column: (value, now[column]) for column, value in before.items() if now[column] != value}


def conflicts(person: Person, changes: Mapping[str, Change]) -> list[str]:
    """The columns that were changed again since the merge."""
    # The group of a rule may have been removed since, which is no change of the person.
    compared = (column for column in changes if column != "contact_reminder_from_id")
    return [column for column in compared if getattr(person, column) != changes[column][1]]


def revert(person: Person, changes: Mapping[str, Change]) -> None:
    """Set the values from before the merge (not saved)."""
    for column, (before, _) in changes.items():
        setattr(person, column, before)
    drop_removed_source(person)


def to_json(changes: Mapping[str, Change]) -> dict[str, list[object]]:
    """The changes in the format of MergeRecord.image."""
    return {column: [_to_json_value(value) for value in change] for column, change in changes.items()}


def from_json(stored: Mapping[str, list[object]]) -> dict[str, Change]:
    """The inverse of to_json."""
    return {
        column: (_from_json_value(column, before), _from_json_value(column, after))
        for column, (before, after) in stored.items()
    }


def _attribute(column: str) -> str:
    field: Any = Person._meta.get_field(_STORED_ATTRIBUTES.get(column, column))
    return str(field.attname)


def _to_json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, dt.date) else str(value) if isinstance(value, UUID) else value


def _from_json_value(attribute: str, value: object) -> object:
    field: Any = Person._meta.get_field(attribute)
    return field.to_python(value)
