"""Multi-value fields of a merged person: the primary's entries, then the secondary's entries that are not equal to one.

Two entries are equal when their normalized values are (see `_COMPARISON_KEYS`), whatever their type or label.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from contacts_project.kernel.errors import FieldError
from people import field_table
from people.duplicates.keys import email_key, phone_key
from people.entries import ENTRY_KEYS, address_values
from people.field_table import MAX_ENTRIES
from people.models import Person
from people.names import fold

Entry = Mapping[str, Any]

_JSON_NAMES = {field.column: field.name for field in field_table.LISTS}


def merge_entries(primary: Person, secondary: Person) -> dict[str, list[Entry]]:
    """Add the secondary's new entries to `primary` (not saved); returns the added entries by column.

    Raises FieldError where a field would exceed MAX_ENTRIES.
    """
    added: dict[str, list[Entry]] = {}
    for column in Person.LIST_COLUMNS:
        current = getattr(primary, column)
        comparison_key = _COMPARISON_KEYS[column]
        known = {comparison_key(entry) for entry in current}
        new: dict[Any, Entry] = {}
        for entry in getattr(secondary, column):
            if (key := comparison_key(entry)) not in known:
                new.setdefault(key, entry)
        if not new:
            continue
        count = len(current) + len(new)
        if count > MAX_ENTRIES:
            raise FieldError(_JSON_NAMES[column], f"Merged these would be {count}, over {MAX_ENTRIES}.")
        setattr(primary, column, [*current, *new.values()])
        added[column] = list(new.values())
    return added


def equal_entry_ids(primary: Person, secondary: Person) -> dict[str, str]:
    """Map the id of each of the secondary's entries to the id of the equal entry of the merged primary."""
    ids: dict[str, str] = {}
    for column, comparison_key in _COMPARISON_KEYS.items():
        # Reversed, so that of several equal entries of the primary the first one wins.
        primary_ids = {comparison_key(entry): entry["id"] for entry in reversed(getattr(primary, column))}
        ids |= {
            entry["id"]: primary_ids[key]
            for entry in getattr(secondary, column)
            if (key := comparison_key(entry)) in primary_ids
        }
    return ids


def revert(person: Person, added: Mapping[str, list[Any]]) -> None:
    """Remove the added entries that are unchanged (not saved); an entry that was edited since the merge stays."""
    for column, entries in added.items():
        # Merges of older versions recorded only the ids: those entries are removed even if they were edited.
        known = {entry if isinstance(entry, str) else _content(column, entry) for entry in entries}
        remaining = [entry for entry in getattr(person, column) if not known & {entry["id"], _content(column, entry)}]
        setattr(person, column, remaining)


def _content(column: str, entry: Entry) -> tuple[Any, ...]:
    return (entry["id"], *(entry.get(key) for key in ENTRY_KEYS[column]))


def _normalized_phone(entry: Entry) -> Any:
    # What has too few digits for a phone key (a short code, a word) is compared as text.
    return phone_key(entry["number"]) or "".join(entry["number"].split()).casefold()


def _normalized_address(entry: Entry) -> Any:
    return tuple(fold(text) if text else None for text in address_values(entry))


def _normalized_url(entry: Entry) -> Any:
    """Scheme and host ignore case (RFC 3986, section 6.2.2.1); a trailing slash of the path is ignored too."""
    try:
        parts = urlsplit(entry["url"])
    except ValueError:
        return entry["url"]
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query, parts.fragment


def _normalized_location(entry: Entry) -> Any:
    label = entry.get("label")
    # Six decimals of a degree are about 11 cm at the equator.
    return round(entry["latitude"], 6), round(entry["longitude"], 6), fold(label) if label else None


_COMPARISON_KEYS: dict[str, Callable[[Entry], Any]] = {
    "phone_numbers": _normalized_phone,
    "emails": lambda entry: email_key(entry["email"]),
    "addresses": _normalized_address,
    "urls": _normalized_url,
    "im_handles": lambda entry: ((entry.get("protocol") or "").casefold(), entry["handle"].casefold()),
    "locations": _normalized_location,
    "custom_fields": lambda entry: (fold(entry["key"]), entry["value"]),
}
