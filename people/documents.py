"""Multi-value fields: the shape of their entries, and the ids that stay while an entry's content does."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contacts_project.kernel.api.ids import new_id

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

    An address keeps what the geocoder found while its text is the same, whatever becomes of its type.
    """
    given, known = list(entries), list(stored)
    places = {address_text(old): old for old in known} if field == "addresses" else {}
    settled = []
    for entry, old in zip(given, _stored_ones(field, given, known), strict=True):
        whole = {"id": old["id"] if old else str(new_id()), **{key: entry.get(key) for key in SHAPES[field]}}
        if field == "addresses":
            place = entry if "geocodeStatus" in entry else places.get(address_text(entry), {})
            whole |= {key: place.get(key) for key in GEOCODED}
        settled.append(whole)
    return settled


def _stored_ones(field: str, entries: Sequence[Entry], stored: Sequence[Entry]) -> list[Entry | None]:
    """For each entry the stored one that it is (open points, section 3), None where it is new.

    It is the one of its id, else the one with the same value, else the only one left of its kind.
    """
    value = [key for key in SHAPES[field] if key not in _KINDS[field]]
    found: list[Entry | None] = [None] * len(entries)
    left = {old["id"]: old for old in stored}
    for keys in (("id",), SHAPES[field], value):
        _match(found, entries, left, _by(keys))
    _match(found, entries, left, _by(_KINDS[field]), only=True)
    return found


def _by(keys: Iterable[str]) -> Callable[[Entry], tuple[Any, ...]]:
    return lambda entry: tuple(entry.get(key) for key in keys)


def _match(
    found: list[Entry | None],
    entries: Sequence[Entry],
    left: dict[Any, Entry],
    key: Callable[[Entry], tuple[Any, ...]],
    *,
    only: bool = False,
) -> None:
    """Give the entries without a stored one the first of those `left` with their key, or the only one."""
    if not left:
        return
    stored = defaultdict(list)
    for old in left.values():
        stored[key(old)].append(old)
    for place, entry in enumerate(entries):
        candidates = stored[key(entry)] if found[place] is None else []
        if len(candidates) == 1 or (candidates and not only):
            old = found[place] = candidates.pop(0)
            del left[old["id"]]


def address_text(entry: Entry) -> tuple[Any, ...]:
    """What an address says of the place: all but its type."""
    return tuple(entry.get(key) for key in SHAPES["addresses"][1:])
