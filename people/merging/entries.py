"""Multi-value fields of a merged person: the primary's entries, then the secondary's that are not the same as one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.texts import define_text
from people import field_table
from people.entries import ENTRY_KEYS, pair_entries
from people.field_table import MAX_ENTRIES
from people.models import Person

_TOO_MANY_MERGED = define_text("too_many_merged", "Merged these would be %(count)s, over %(limit)s.")

Entry = Mapping[str, Any]

_JSON_NAMES = {field.column: field.name for field in field_table.LISTS}


class MergedEntries(NamedTuple):
    """The secondary's entries that were added to the primary, by column; and for each entry of the secondary the id of
    the primary's entry that it is now."""

    added: dict[str, list[Entry]]
    ids: dict[str, str]


def merge_entries(primary: Person, secondary: Person) -> MergedEntries:
    """Add the secondary's new entries to `primary` (not saved).

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
    return MergedEntries(added, ids)


def revert(person: Person, added: Mapping[str, list[Entry | str]]) -> None:
    """Remove the added entries that are unchanged (not saved); an entry that was edited since the merge stays."""
    for column, entries in added.items():
        # Merges of older versions recorded only the ids: those entries are removed even if they were edited.
        known = {entry if isinstance(entry, str) else _content(column, entry) for entry in entries}
        remaining = [entry for entry in getattr(person, column) if not known & {entry["id"], _content(column, entry)}]
        setattr(person, column, remaining)


def _content(column: str, entry: Entry) -> tuple[object, ...]:
    return (entry["id"], *(entry.get(key) for key in ENTRY_KEYS[column]))
