"""The response of GET /api/map/markers: all places of all people."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from uuid import UUID

from django.conf import settings

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from people.geocoding.addresses import address_text
from people.geocoding.gazetteer import Town, TownQuery, find_towns, nearest_towns
from people.mentions import may_be_mentioned
from people.models import Membership, Person
from people.names import COLUMNS, format_name
from people.vocabularies import GeocodeState


def build_map(owner: User) -> JsonObject:
    """The markers of active people of whom may be spoken, in name order; how many of their addresses wait or failed.

    An address that the geocoder has not found stands in its town, if the gazetteer knows it.
    """
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned())
    people = people.exclude(addresses=[], locations=[]).in_name_order()
    rows = list(people.values_list("id", "addresses", "locations", *COLUMNS))
    addresses = [entry for _, entries, *_ in rows for entry in entries]
    # Every address with a country says which one is usual in the account, found or not.
    towns = find_towns(map(_town_query, addresses))
    places = (
        place for _, entries, locations, *_ in rows for entry in (*entries, *locations) if (place := _place(entry))
    )
    nearest = nearest_towns(places)
    markers: list[JsonObject] = []
    unknown: list[JsonObject] = []
    group_ids = _group_ids(owner)
    for key, entries, locations, *parts in rows:
        person = {
            "personId": str(key),
            "personName": format_name(owner, parts),
        }
        found = [_location_marker(entry, nearest) for entry in locations]
        for entry in entries:
            if marker := _address_marker(entry, towns, nearest):
                found.append(marker)
            elif address_text(entry):
                unknown.append({"personId": str(key), "entryId": entry["id"]})
        markers += [{**marker, **person, "groupIds": group_ids[key]} for marker in found]
    states = Counter(entry.get("geocodeStatus") for entry in addresses)
    failed = [entry for entry in addresses if entry.get("geocodeStatus") == GeocodeState.FAILED]
    # Enabling geocoding queues the skipped addresses in the background, so they count as pending from the start.
    # Without a geocoder they wait for nothing.
    pending = states[GeocodeState.PENDING] + states[GeocodeState.SKIPPED]
    is_geocoding = owner.geocoding_enabled and settings.GEOCODER_URL
    return {
        "markers": markers,
        "unknown": unknown,
        "pendingCount": pending if is_geocoding else 0,
        "failedCount": sum(_town_query(entry) not in towns for entry in failed),
        "geocodingEnabled": owner.geocoding_enabled,
    }


def _town_query(address: JsonObject) -> TownQuery:
    return TownQuery(*(address.get(part) or "" for part in TownQuery._fields))


def _place(entry: JsonObject) -> tuple[float, float] | None:
    latitude, longitude = entry.get("latitude"), entry.get("longitude")
    return None if latitude is None or longitude is None else (latitude, longitude)


def _location_marker(entry: JsonObject, nearest: Mapping[tuple[float, float], Town]) -> JsonObject:
    town = nearest.get(_place(entry) or (0, 0))
    return {
        "id": entry["id"],
        "source": "location",
        "precision": "address",
        "latitude": entry["latitude"],
        "longitude": entry["longitude"],
        "label": entry.get("label") or entry["type"],
        "timezone": town.timezone if town else None,
        "town": {"name": town.name, "country": town.country} if town else None,
    }


def _address_marker(
    entry: JsonObject, towns: Mapping[TownQuery, Town], nearest: Mapping[tuple[float, float], Town]
) -> JsonObject | None:
    """The geocoder's place, else the town's; None without either."""
    town, place = towns.get(_town_query(entry)), _place(entry)
    if not (place or town):
        return None
    near = nearest.get(place) if place else town
    return {
        "id": entry["id"],
        "source": "address",
        "precision": "address" if place else "town",
        "latitude": place[0] if place else town and town.latitude,
        "longitude": place[1] if place else town and town.longitude,
        "label": address_text(entry),
        "timezone": near.timezone if near else None,
        # By the name that the address has for it: the gazetteer's is often the English one.
        "town": {"name": entry["locality"], "country": town.country} if town else None,
    }


def _group_ids(owner: User) -> dict[UUID, list[str]]:
    """The ids of the active groups of each person, in name order."""
    groups: dict[UUID, list[str]] = defaultdict(list)
    rows = Membership.objects.owned_by(owner).filter(group__deleted_at=None)
    # Sorted here, because databases collate text differently.
    for _, group_id, person_id in sorted(rows.values_list("group__name_key", "group_id", "person_id")):
        groups[person_id].append(str(group_id))
    return groups
