"""Multi-value fields: the shape of their entries, and the ids that stay while an entry's content does."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from contacts_project.kernel.api.ids import new_id

Entry = Mapping[str, Any]

# The keys of an entry, in the order of the answer, behind its `id`. Content decides about the id.
SHAPES: Mapping[str, tuple[str, ...]] = {
    "phone_numbers": ("type", "number"),
    "emails": ("type", "email"),
    "addresses": ("type", "streetLine1", "streetLine2", "locality", "region", "country", "postalCode"),
    "urls": ("type", "url"),
    "im_handles": ("type", "protocol", "handle"),
    "locations": ("type", "latitude", "longitude", "label"),
    "custom_fields": ("key", "value", "type"),
}
GEOCODED = ("latitude", "longitude", "geocodeStatus")
MAX_ENTRIES = 100


def settle(field: str, entries: Iterable[Entry], stored: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as they are stored: whole, each with an id, that of the stored entry of the same content.

    An address keeps what the geocoder found while its text is the same, whatever becomes of its type.
    """
    shape = SHAPES[field]
    ids: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    places: dict[tuple[Any, ...], Entry] = {}
    for old in stored:
        ids[tuple(old.get(key) for key in shape)].append(old["id"])
        places[address_text(old)] = old
    settled = []
    for entry in entries:
        content = tuple(entry.get(key) for key in shape)
        known = ids[content]
        whole = {"id": known.pop(0) if known else str(new_id()), **dict(zip(shape, content, strict=True))}
        if field == "addresses":
            place = entry if "geocodeStatus" in entry else places.get(address_text(entry), {})
            whole |= {key: place.get(key) for key in GEOCODED}
        settled.append(whole)
    return settled


def address_text(entry: Entry) -> tuple[Any, ...]:
    """What an address says of the place: all but its type."""
    return tuple(entry.get(key) for key in SHAPES["addresses"][1:])
