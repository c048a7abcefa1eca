"""Multi-value fields of a merged person: the primary's entries, then those of the secondary that say anything new."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from contacts_project.kernel.errors import FieldError
from people import field_table
from people.duplicates.keys import email_key, phone_key
from people.entries import SHAPES, address_text
from people.field_table import MAX_ENTRIES
from people.models import Person
from people.names import fold

Entry = Mapping[str, Any]

_JSON_NAMES = {field.column: field.name for field in field_table.LISTS}


def merge_documents(primary: Person, secondary: Person) -> dict[str, list[Entry]]:
    """Add the secondary's new entries to `primary` (not saved); returns the added ones by column.

    An entry is a repeat when it means the same, whatever its type. Raises FieldError over the limit of a field.
    """
    added: dict[str, list[Entry]] = {}
    for column in Person.DOCUMENTS:
        mine, theirs = getattr(primary, column), getattr(secondary, column)
        meaning = _MEANINGS[column]
        known = {meaning(entry) for entry in mine}
        new: dict[Any, Entry] = {}
        for entry in theirs:
            if (means := meaning(entry)) not in known:
                new.setdefault(means, entry)
        if not new:
            continue
        if len(mine) + len(new) > MAX_ENTRIES:
            raise FieldError(_JSON_NAMES[column], f"Merged these would be {len(mine) + len(new)}, over {MAX_ENTRIES}.")
        setattr(primary, column, [*mine, *new.values()])
        added[column] = list(new.values())
    return added


def same_entries(primary: Person, secondary: Person) -> dict[str, str]:
    """By the id of each of the secondary's entries that of the merged primary's which means the same."""
    same: dict[str, str] = {}
    for column, meaning in _MEANINGS.items():
        mine = {meaning(entry): entry["id"] for entry in reversed(getattr(primary, column))}
        same |= {entry["id"]: mine[means] for entry in getattr(secondary, column) if (means := meaning(entry)) in mine}
    return same


def take_back(person: Person, added: Mapping[str, list[Any]]) -> None:
    """Remove the added entries that are still as they were added (not saved); what was edited since stays.

    Merges of older versions remembered ids alone.
    """
    for column, entries in added.items():
        known = {entry if isinstance(entry, str) else _content(column, entry) for entry in entries}
        left = [entry for entry in getattr(person, column) if not known & {entry["id"], _content(column, entry)}]
        setattr(person, column, left)


def _content(column: str, entry: Entry) -> tuple[Any, ...]:
    return (entry["id"], *(entry.get(key) for key in SHAPES[column]))


def _phone(entry: Entry) -> Any:
    return phone_key(entry["number"]) or "".join(entry["number"].split()).casefold()


def _address(entry: Entry) -> Any:
    return tuple(fold(text) if text else None for text in address_text(entry))


def _url(entry: Entry) -> Any:
    try:
        parts = urlsplit(entry["url"])
    except ValueError:
        return entry["url"]
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query, parts.fragment


def _location(entry: Entry) -> Any:
    label = entry.get("label")
    return round(entry["latitude"], 6), round(entry["longitude"], 6), fold(label) if label else None


_MEANINGS: dict[str, Callable[[Entry], Any]] = {
    "phone_numbers": _phone,
    "emails": lambda entry: email_key(entry["email"]),
    "addresses": _address,
    "urls": _url,
    "im_handles": lambda entry: ((entry.get("protocol") or "").casefold(), entry["handle"].casefold()),
    "locations": _location,
    "custom_fields": lambda entry: (fold(entry["key"]), entry["value"]),
}
