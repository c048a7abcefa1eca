"""Multi-value fields: the shape of their entries, and the ids that stay while an entry's content does."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contacts_project.kernel.api.ids import new_id
from people import field_table
from people.entry_matcher import match_entries

Entry = Mapping[str, Any]

# The keys of an entry that a body may bring, in the order of the answer, behind its `id`.
SHAPES: Mapping[str, tuple[str, ...]] = {
    field.column: tuple(key.name for key in field.keys if not key.read_only) for field in field_table.LISTS
}
# An entry whose value was edited is known by what sorts it.
_KINDS = {field.column: tuple(key.name for key in field.keys if key.sorts) for field in field_table.LISTS}
_VALUES = {column: tuple(key for key in keys if key not in _KINDS[column]) for column, keys in SHAPES.items()}
GEOCODED = ("latitude", "longitude", "geocodeStatus")


def identify_entries(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as they are stored: whole, each with an id, that of the stored entry that it is.

    That is the one of its id, else the one with the same value, else the only one left of its kind (open points,
    section 3). An address keeps what the geocoder found while its text is the same, whatever becomes of its type.
    """
    given, known = list(entries), list(stored)
    keys = [_by(("id",)), _by(SHAPES[field]), _by(_VALUES[field])]
    found = match_entries(given, known, keys=keys, kind=_by(_KINDS[field]))
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


def _by(keys: Iterable[str]) -> Callable[[Entry], tuple[Any, ...]]:
    return lambda entry: tuple(entry.get(key) for key in keys)


def address_text(entry: Entry) -> tuple[Any, ...]:
    """What an address says of the place: all but its type."""
    return tuple(entry.get(key) for key in SHAPES["addresses"][1:])
