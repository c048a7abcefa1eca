"""The row of a merged person: single values, entries of multi-value fields, and the vCard lines that go with them."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.texts import define_text
from people import field_table
from people.cards.converter import SCALARS as CARD_FIELDS
from people.entries import ENTRY_KEYS, pair_entries
from people.field_table import MAX_ENTRIES, REMINDER_DEFAULTS, Merge
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.services.group_rules import RULED_COLUMNS, drop_removed_source
from people.vcard import CardLine
from people.vcard.line_merge import missing_lines

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
    for column, value in overrides.items():
        field: Any = Person._meta.get_field(_STORED_ATTRIBUTES.get(column, column))
        merged[str(field.attname)] = getattr(value, "pk", value)
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


def conflicting_columns(person: Person, changes: Mapping[str, Change]) -> list[str]:
    """The columns that were changed again since the merge."""
    # The group of a rule may have been removed since, which is no change of the person.
    compared = (column for column in changes if column != "contact_reminder_from_id")
    return [column for column in compared if getattr(person, column) != changes[column][1]]


def revert_scalars(person: Person, changes: Mapping[str, Change]) -> None:
    """Set the values from before the merge (not saved)."""
    for column, (before, _) in changes.items():
        setattr(person, column, before)
    drop_removed_source(person)


def changes_to_json(changes: Mapping[str, Change]) -> dict[str, list[object]]:
    """The changes in the format of MergeRecord.image."""
    return {column: [_to_json_value(value) for value in change] for column, change in changes.items()}


def changes_from_json(stored: Mapping[str, list[object]]) -> dict[str, Change]:
    """The inverse of changes_to_json."""
    return {
        column: (_from_json_value(column, before), _from_json_value(column, after))
        for column, (before, after) in stored.items()
    }


def _to_json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, dt.date) else str(value) if isinstance(value, UUID) else value


def _from_json_value(attribute: str, value: object) -> object:
    field: Any = Person._meta.get_field(attribute)
    return field.to_python(value)


_TOO_MANY_MERGED = define_text("too_many_merged", "Merged these would be %(count)s, over %(limit)s.")

Entry = Mapping[str, Any]

_JSON_NAMES = {field.column: field.name for field in field_table.LISTS}


class AddedEntries(NamedTuple):
    """The secondary's entries that were added to the primary, by column; and for each entry of the secondary the id of
    the primary's entry that it is now."""

    added: dict[str, list[Entry]]
    ids: dict[str, str]


def merge_entries(primary: Person, secondary: Person) -> AddedEntries:
    """Add the secondary's entries that are not the same as one of `primary` to it (not saved).

    Raises FieldError where a field would exceed MAX_ENTRIES.
    """
    added: dict[str, list[Entry]] = {}
    ids: dict[str, str] = {}
    for column in Person.LIST_COLUMNS:
        current, others = getattr(primary, column), getattr(secondary, column)
        new = []
        for entry, index in zip(others, pair_entries(column, others, current), strict=True):
            ids[entry["id"]] = entry["id"] if index is None else current[index]["id"]
            if index is None:
                new.append(entry)
        if not new:
            continue
        count = len(current) + len(new)
        if count > MAX_ENTRIES:
            raise FieldError(_JSON_NAMES[column], _TOO_MANY_MERGED.format(count=count, limit=MAX_ENTRIES))
        setattr(primary, column, [*current, *new])
        added[column] = new
    return AddedEntries(added, ids)


def revert_entries(person: Person, added: Mapping[str, list[Entry | str]]) -> None:
    """Remove the added entries that are unchanged (not saved); an entry that was edited since the merge stays."""
    for column, entries in added.items():
        # Merges of older versions recorded only the ids: those entries are removed even if they were edited.
        known = {entry if isinstance(entry, str) else _entry_content(column, entry) for entry in entries}
        remaining = [
            entry for entry in getattr(person, column) if not known & {entry["id"], _entry_content(column, entry)}
        ]
        setattr(person, column, remaining)


def _entry_content(column: str, entry: Entry) -> tuple[object, ...]:
    return (entry["id"], *(entry.get(key) for key in ENTRY_KEYS[column]))


Line = Mapping[str, Any]

_NAME_PARTS = tuple(column for column in NAME_COLUMNS if column != "nickname")
# Columns by the field that a line is mapped to; N and FN hold the whole name.
_COLUMNS_OF_FIELDS = {field: (column,) for column, field in CARD_FIELDS.items()} | {
    "n": _NAME_PARTS,
    "fn": _NAME_PARTS,
    "photo": ("photo",),
}


def merge_lines(primary: Person, secondary: Person, entry_ids: Mapping[str, str]) -> list[Line]:
    """Add the secondary's lines whose values the merged `primary` took over (not saved); returns the added lines.

    A line of the secondary names an entry or a date by id; `entry_ids` are the ids of these in the merged person.
    """
    primary_lines = [_read_line(line, line.get("id")) for line in primary.card_lines]
    secondary_lines = [
        _read_line(line, entry_ids.get(line.get("id", "")))
        for line in secondary.card_lines
        if _is_taken_over(line, primary, secondary)
    ]
    added = [_stored_line(kept) for kept in missing_lines(primary_lines, secondary_lines)]
    primary.card_lines = [*primary.card_lines, *added]
    return added


def revert_lines(person: Person, added: Iterable[Line]) -> None:
    """Remove the added lines that are still there (not saved)."""
    lines = list(person.card_lines)
    for line in added:
        # One at a time: a card may hold the same line twice, and the merge added only one of them.
        if line in lines:
            lines.remove(line)
    person.card_lines = lines


def _is_taken_over(line: Line, primary: Person, secondary: Person) -> bool:
    """Whether the merged primary has the line's values; a line without single-valued fields always counts."""
    columns = [column for field in line.get("fields", ()) for column in _COLUMNS_OF_FIELDS.get(field, ())]
    return all(getattr(primary, column) == getattr(secondary, column) for column in columns)


def _read_line(line: Line, entry_id: str | None) -> CardLine:
    return CardLine(line["line"], tuple(line.get("fields", ())), {"id": entry_id} if entry_id else None)


def _stored_line(kept: CardLine) -> Line:
    line: dict[str, Any] = {"line": kept.text}
    if kept.fields:
        line["fields"] = list(kept.fields)
    if isinstance(kept.entry, Mapping):
        line["id"] = kept.entry["id"]
    return line
