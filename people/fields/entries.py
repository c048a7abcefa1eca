"""Multi-value fields: the shape of their entries, and the ids that stay while an entry's content does."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contacts_project.kernel.api.ids import new_id
from people.matching import match_entries

Entry = Mapping[str, Any]

# The keys of an entry, in the order of the answer, behind its `id`.
SHAPES: Mapping[str, tuple[str, ...]] = {
    "phone_numbers": ("type", "number"),
    "emails": ("type", "email"),
    "addresses": ("type", "streetLine1", "streetLine2", "locality", "region", "country", "postalCode"),
    "urls": ("type", "url"),
    "im_handles": ("type", "protocol", "handle"),
    "locations": ("type", "latitude", "longitude", "label"),
    "custom_fields": ("key", "value", "type"),
}
# What sorts the entries of a field: an entry whose value was edited is known by it. The other keys are its value.
_KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SHAPES, ("type",)),
    "im_handles": ("type", "protocol"),
    "locations": ("type", "label"),
    "custom_fields": ("key", "type"),
}
GEOCODED = ("latitude", "longitude", "geocodeStatus")
MAX_ENTRIES = 100


def settle(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as they are stored: whole, each with an id, that of the stored entry that it is.

    That is the one of its id, else the one with the same value, else the only one left of its kind (open points,
    section 3). An address keeps what the geocoder found while its text is the same, whatever becomes of its type.
    """
    given, known = list(entries), list(stored)
    value = [key for key in SHAPES[field] if key not in _KINDS[field]]
    keys = [_by(("id",)), _by(SHAPES[field]), _by(value)]
    found = match_entries(given, known, keys=keys, kind=_by(_KINDS[field]))
    places = {address_text(old): old for old in known} if field == "addresses" else {}
    settled = []
    for entry, place in zip(given, found, strict=True):
        key = str(new_id()) if place is None else known[place]["id"]
        whole = {"id": key, **{key: entry.get(key) for key in SHAPES[field]}}
        if field == "addresses":
            geocoded = entry if "geocodeStatus" in entry else places.get(address_text(entry), {})
            whole |= {key: geocoded.get(key) for key in GEOCODED}
        settled.append(whole)
    return settled


def _by(keys: Iterable[str]) -> Callable[[Entry], tuple[Any, ...]]:
    return lambda entry: tuple(entry.get(key) for key in keys)


def address_text(entry: Entry) -> tuple[Any, ...]:
    """What an address says of the place: all but its type."""
    return tuple(entry.get(key) for key in SHAPES["addresses"][1:])
