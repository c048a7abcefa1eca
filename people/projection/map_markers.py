"""The response of GET /api/map/markers: all places of all people, in two queries."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from people.geocoding.addresses import address_text
from people.mentions import may_be_mentioned
from people.models import Membership, Person
from people.names import COLUMNS, format_name
from people.vocabularies import GeocodeState


def build_map(owner: User) -> JsonObject:
    """The markers of active people of whom may be spoken, in name order, and how many of their addresses the geocoder
    has pending or failed."""
    states: Counter[str] = Counter()
    markers: list[dict[str, Any]] = []
    group_ids = _group_ids(owner)
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned())
    people = people.exclude(addresses=[], locations=[]).in_name_order()
    for key, addresses, locations, *parts in people.values_list("id", "addresses", "locations", *COLUMNS):
        states.update(entry.get("geocodeStatus") for entry in addresses)
        person = {
            "personId": str(key),
            "personName": format_name(owner, parts),
        }
        markers += [{**marker, **person, "groupIds": group_ids[key]} for marker in _build_markers(addresses, locations)]
    # Enabling geocoding queues the skipped addresses in the background, so they count as pending from the start.
    pending = states[GeocodeState.PENDING] + states[GeocodeState.SKIPPED]
    return {
        "markers": markers,
        "pendingCount": pending if owner.geocoding_enabled else 0,
        "failedCount": states[GeocodeState.FAILED],
        "geocodingEnabled": owner.geocoding_enabled,
    }


def _build_markers(addresses: list[JsonObject], locations: list[JsonObject]) -> Iterator[JsonObject]:
    for entry in locations:
        yield _build_marker("location", entry, entry.get("label") or entry["type"])
    for entry in addresses:
        if entry.get("latitude") is not None and entry.get("longitude") is not None:
            yield _build_marker("address", entry, address_text(entry))


def _build_marker(source: str, entry: JsonObject, label: str) -> JsonObject:
    return {
        "id": entry["id"],
        "source": source,
        "latitude": entry["latitude"],
        "longitude": entry["longitude"],
        "label": label,
    }


def _group_ids(owner: User) -> dict[UUID, list[str]]:
    """The ids of the active groups of each person, in name order."""
    groups: dict[UUID, list[str]] = defaultdict(list)
    rows = Membership.objects.owned_by(owner).filter(group__deleted_at=None)
    # Sorted here, because databases collate text differently.
    for _, group_id, person_id in sorted(rows.values_list("group__name_key", "group_id", "person_id")):
        groups[person_id].append(str(group_id))
    return groups
