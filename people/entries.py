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
SHAPES: Mapping[str, tuple[str, ...]] = {
    field.column: tuple(key.name for key in field.keys if not key.read_only) for field in field_table.LISTS
}
GEOCODED = ("latitude", "longitude", "geocodeStatus")
Key = Callable[[Any], Hashable]


def _by(keys: Iterable[str]) -> Key:
    return lambda entry: tuple(map(entry.get, keys))


# An entry whose value was edited is matched by its type and label.
_KINDS = {field.column: tuple(key.name for key in field.keys if key.sorts) for field in field_table.LISTS}
_VALUES = {column: tuple(key for key in keys if key not in _KINDS[column]) for column, keys in SHAPES.items()}
_BY_KIND = {column: _by(keys) for column, keys in _KINDS.items()}
_BY_CONTENT = {column: (_by(("id",)), _by(SHAPES[column]), _by(keys)) for column, keys in _VALUES.items()}


def identify_entries(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as they are stored: with all keys, and the id of the stored entry that each one matches.

    An entry matches the stored entry with its id, else one with the same content, else the only unmatched one of its
    type (open points, section 3). An address keeps its geocoding result as long as its text is the same.
    """
    given, known = list(entries), list(stored)
    found = match_entries(given, known, keys=_BY_CONTENT[field], kind=_BY_KIND[field])
    places = {address_text(old): old for old in known} if field == "addresses" else {}
    identified = []
    for entry, place in zip(given, found, strict=True):
        key = str(new_id()) if place is None else known[place]["id"]
        whole = {"id": key, **{key: entry.get(key) for key in SHAPES[field]}}
        if field == "addresses":
            geocoded = entry if "geocodeStatus" in entry else places.get(address_text(entry), {})
            whole |= {key: geocoded.get(key) for key in GEOCODED}
        identified.append(whole)
    return identified


def address_text(entry: Entry) -> tuple[Any, ...]:
    """The values of an address without its type."""
    return tuple(map(entry.get, SHAPES["addresses"][1:]))


def match_entries(new: Sequence[Any], old: Sequence[Any], *, keys: Sequence[Key], kind: Key) -> list[int | None]:
    """For each new entry the index of the old entry that it matches, or None. Each old entry is matched at most once.

    `keys` are tried in order over all entries: the first unmatched old entry with an equal key is taken. At last an
    entry matches the only unmatched one with an equal `kind`.
    """
    found: list[int | None] = [None] * len(new)
    left = dict(enumerate(old))
    for key in (*keys, kind):
        if not left:
            break
        places: dict[Hashable, list[int]] = defaultdict(list)
        for old_place, entry in left.items():
            places[key(entry)].append(old_place)
        for number, entry in enumerate(new):
            candidates = places[key(entry)] if found[number] is None else []
            if len(candidates) == 1 or (candidates and key is not kind):
                place = found[number] = candidates.pop(0)
                del left[place]
    return found
