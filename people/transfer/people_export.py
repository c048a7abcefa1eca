"""Exports people in batches, with five queries for each batch."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from people import field_table
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.transfer.pictures import encode_photo

_BATCH_SIZE = 500
# relationshipToUserId is formatted as text, and the photo is exported as its content; both are added below.
_SCALARS = [
    field for field in field_table.SCALARS if field.kind is not field_table.Kind.REFERENCE and field.name != "photo"
]
_COLUMNS = {
    **{field.name: field.column for field in _SCALARS},
    "lastContactTyped": "contact_before",
    "cardLines": "card_lines",
    **{field.name: field.column for field in field_table.LISTS},
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}
_DATE_COLUMNS = {
    **{key.name: key.column for key in field_table.DATE_KEYS},
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}


def export_people(owner: User) -> Iterator[JsonObject]:
    """All people, including those in the trash, in the order of their creation."""
    people = iter(Person.objects.owned_by(owner).order_by("pk").iterator(chunk_size=_BATCH_SIZE))
    while batch := list(islice(people, _BATCH_SIZE)):
        ids = [person.pk for person in batch]
        groups = _load_groups(owner, ids)
        values = _load_values(owner, ids)
        dates = _load_dates(owner, ids)
        for person in batch:
            yield {
                "id": str(person.pk),
                **_read_columns(person, _COLUMNS),
                "relationshipToUserId": person.relationship_to_user_id and str(person.relationship_to_user_id),
                "contactReminderFromId": person.contact_reminder_from_id and str(person.contact_reminder_from_id),
                "photo": encode_photo(person.photo),
                "groupIds": groups[person.pk],
                "customFieldValues": values[person.pk],
                "importantDates": dates[person.pk],
            }


def _read_columns(row: object, columns: dict[str, str]) -> JsonObject:
    return {key: getattr(row, column) for key, column in columns.items()}


def _load_groups(owner: User, ids: list[UUID]) -> dict[UUID, list[str]]:
    rows = Membership.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person((row.person_id, str(row.group_id)) for row in rows.order_by("group_id"))


def _load_values(owner: User, ids: list[UUID]) -> dict[UUID, list[JsonObject]]:
    rows = CustomFieldValue.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person(
        (row.person_id, {"templateId": str(row.template_id), "value": row.value})
        for row in rows.order_by("template_id")
    )


def _load_dates(owner: User, ids: list[UUID]) -> dict[UUID, list[JsonObject]]:
    rows = ImportantDate.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _group_by_person(
        (row.person_id, {"id": str(row.pk), **_read_columns(row, _DATE_COLUMNS)}) for row in rows.order_by("pk")
    )


Record = TypeVar("Record")


def _group_by_person(pairs: Iterator[tuple[UUID, Record]]) -> dict[UUID, list[Record]]:
    """The records by person; an empty list for people without any."""
    found: dict[UUID, list[Record]] = defaultdict(list)
    for person_id, record in pairs:
        found[person_id].append(record)
    return found
