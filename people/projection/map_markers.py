"""GET /api/map/markers: every place of every person, in two queries."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from accounts.models import User
from people.geocoding.addresses import address_text
from people.models import Membership, Person
from people.names import COLUMNS, NameParts, display_name
from people.vocabularies import GeocodeState


def map_answer(owner: User) -> dict[str, Any]:
    """The markers of the account's active people, in name order, and how the geocoder is doing."""
    states: Counter[str] = Counter()
    markers: list[dict[str, Any]] = []
    groups = _groups(owner)
    people = Person.objects.owned_by(owner).active().exclude(addresses=[], locations=[]).in_name_order()
    for key, addresses, locations, *parts in people.values_list("id", "addresses", "locations", *COLUMNS):
        states.update(entry.get("geocodeStatus") for entry in addresses)
        person = {
            "personId": str(key),
            "personName": display_name(NameParts(*parts), order=owner.name_order, form=owner.name_display_format),
        }
        markers += [{**place, **person, "groupIds": groups[key]} for place in _places(addresses, locations)]
    # Enabling queues in the background what was skipped: until then it is on its way all the same.
    waiting = states[GeocodeState.PENDING] + states[GeocodeState.SKIPPED]
    return {
        "markers": markers,
        "pendingCount": waiting if owner.geocoding_enabled else 0,
        "failedCount": states[GeocodeState.FAILED],
        "geocodingEnabled": owner.geocoding_enabled,
    }


def _places(addresses: list[dict[str, Any]], locations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in locations:
        yield _place("location", entry, entry.get("label") or entry["type"])
    for entry in addresses:
        if entry.get("latitude") is not None and entry.get("longitude") is not None:
            yield _place("address", entry, address_text(entry))


def _place(source: str, entry: dict[str, Any], label: str) -> dict[str, Any]:
    return {
        "id": entry["id"],
        "source": source,
        "latitude": entry["latitude"],
        "longitude": entry["longitude"],
        "label": label,
    }


def _groups(owner: User) -> dict[UUID, list[str]]:
    """The ids of the active groups, by person."""
    groups: dict[UUID, list[str]] = defaultdict(list)
    rows = Membership.objects.owned_by(owner).filter(group__deleted_at=None).order_by("group__name_key", "group_id")
    for person_id, group_id in rows.values_list("person_id", "group_id"):
        groups[person_id].append(str(group_id))
    return groups
