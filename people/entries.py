"""Entries of multi-value fields: their keys, and matching the entries of a new list to those of the stored list.

A matched entry keeps its id.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from contacts_project.kernel.api.ids import new_id
from people import field_table

Entry = Mapping[str, Any]

# The keys of an entry that a request body may contain, in the order of the response, after `id`.
ENTRY_KEYS: Mapping[str, tuple[str, ...]] = {
    field.column: tuple(key.name for key in field.keys if not key.read_only) for field in field_table.LISTS
}
# The keys that the geocoder adds to an address.
GEOCODED_KEYS = ("latitude", "longitude", "geocodeStatus")
Key = Callable[[Any], Hashable]


def _by_keys(keys: Iterable[str]) -> Key:
    """A function that returns the values by which two entries are compared."""
    names = tuple(keys)
    return lambda entry: tuple(map(entry.get, names))


_KIND_KEYS = {field.column: tuple(key.name for key in field.keys if key.classifies) for field in field_table.LISTS}
# An entry whose value was edited is matched by its type and label.
_BY_KIND = {column: _by_keys(keys) for column, keys in _KIND_KEYS.items()}
# In the order in which they are tried: the id, all values, the values without type and label.
_BY_CONTENT = {
    column: (_by_keys(("id",)), _by_keys(keys), _by_keys(key for key in keys if key not in _KIND_KEYS[column]))
    for column, keys in ENTRY_KEYS.items()
}


def identify_entries(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as they are stored: with all keys, and the id of the stored entry that each one matches.

    An entry matches the stored entry with its id, else one with the same content, else the only unmatched one of its
    type. An address keeps its geocoding result as long as its text is the same.
    """
    given, known = list(entries), list(stored)
    found = match_entries(given, known, keys=_BY_CONTENT[field], kind=_BY_KIND[field])
    known_by_address = {address_values(old): old for old in known} if field == "addresses" else {}
    identified = []
    for entry, index in zip(given, found, strict=True):
        key = str(new_id()) if index is None else known[index]["id"]
        identified_entry = {"id": key, **{key: entry.get(key) for key in ENTRY_KEYS[field]}}
        if field == "addresses":
            geocoded = entry if "geocodeStatus" in entry else known_by_address.get(address_values(entry), {})
            identified_entry |= {key: geocoded.get(key) for key in GEOCODED_KEYS}
        identified.append(identified_entry)
    return identified


def address_values(entry: Entry) -> tuple[Any, ...]:
    """The values of an address without its type."""
    return tuple(map(entry.get, ENTRY_KEYS["addresses"][1:]))


def match_entries(new: Sequence[Any], old: Sequence[Any], *, keys: Sequence[Key], kind: Key) -> list[int | None]:
    """For each new entry the index of the old entry that it matches, or None. Each old entry is matched at most once.

    `keys` are tried in order over all entries: the first unmatched old entry with an equal key is taken. At last an
    entry matches the only unmatched one with an equal `kind`.
    """
    found: list[int | None] = [None] * len(new)
    unmatched = dict(enumerate(old))
    for key in (*keys, kind):
        if not unmatched:
            break
        indexes_by_key: dict[Hashable, list[int]] = defaultdict(list)
        for index, entry in unmatched.items():
            indexes_by_key[key(entry)].append(index)
        for position, entry in enumerate(new):
            candidates = indexes_by_key[key(entry)] if found[position] is None else []
            if len(candidates) == 1 or (candidates and key is not kind):
                matched = found[position] = candidates.pop(0)
                del unmatched[matched]
    return found
