"""Fingerprints of people, which show whether somebody has edited a person since an import."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import orjson

from people import field_table
from people.entries import ENTRY_KEYS
from people.field_table import DATE_COLUMNS
from people.models import ImportantDate, Membership, Person

#: Stored instead of the fingerprint of an edited person. It equals no digest.
EDITED = "edited"
# lastContact also follows from interactions, which is no edit; what the user typed is in `contact_before`.
_SCALARS = (*(field.attribute for field in field_table.SCALARS if field.name != "lastContact"), "contact_before")


def fingerprints(owner_id: UUID, people: Iterable[Person]) -> dict[UUID, str]:
    """Return a digest for each person, which stays the same until somebody edits the person, its dates or its groups.

    Coordinates that the geocoder adds do not change it, and neither does what follows from interactions.
    """
    rows = {person.pk: person for person in people}
    dates: dict[UUID, list[Any]] = defaultdict(list)
    active = ImportantDate.objects.owned_by(owner_id).active().filter(person__in=rows)
    for person_id, *values in active.order_by("id").values_list("person_id", *DATE_COLUMNS):
        dates[person_id].append(values)
    groups: dict[UUID, list[str]] = defaultdict(list)
    memberships = Membership.objects.owned_by(owner_id).filter(person__in=rows).order_by("group_id")
    for person_id, group_id in memberships.values_list("person_id", "group_id"):
        groups[person_id].append(str(group_id))
    values = {key: [_editable_values(person), dates[key], groups[key]] for key, person in rows.items()}
    return {key: hashlib.sha256(orjson.dumps(value)).hexdigest() for key, value in values.items()}


def _editable_values(person: Person) -> list[object]:
    # Only the keys that a user can write: the geocoder adds others to an address.
    documents = (
        [[entry.get(key) for key in keys] for entry in getattr(person, name)] for name, keys in ENTRY_KEYS.items()
    )
    return [*(getattr(person, name) for name in _SCALARS), *documents]
