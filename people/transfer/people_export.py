"""Writes people into the document: a batch at a time, five queries each."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import UUID

from accounts.models import User
from people import field_table
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.transfer.pictures import exported

_BATCH = 500
# The type of what a person is to the user, and the photo, are not told by their columns alone.
_TOLD = [
    field for field in field_table.SCALARS if field.kind is not field_table.Kind.REFERENCE and field.name != "photo"
]
_COLUMNS = {
    **{field.name: field.column for field in _TOLD},
    "lastContactTyped": "contact_before",
    "cardLines": "card_lines",
    **{field.name: field.column for field in field_table.LISTS},
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}
_DATE = {
    "type": "type",
    "title": "title",
    "date": "date",
    "yearUnknown": "year_unknown",
    "reminderEnabled": "reminder_enabled",
    "reminderType": "reminder_type",
    "reminderInterval": "reminder_interval",
    "reminderIntervalUnit": "reminder_interval_unit",
    "reminderLeadDays": "reminder_lead_days",
    "extraLeadDays": "extra_lead_days",
    "createdAt": "created_at",
    "deletedAt": "deleted_at",
}


def export_people(owner: User) -> Iterator[dict[str, Any]]:
    """Everybody, those in the trash too, in the order in which they were made."""
    people = iter(Person.objects.owned_by(owner).order_by("pk").iterator(chunk_size=_BATCH))
    while batch := list(islice(people, _BATCH)):
        ids = [person.pk for person in batch]
        groups = _groups(owner, ids)
        values = _values(owner, ids)
        dates = _dates(owner, ids)
        for person in batch:
            yield {
                "id": str(person.pk),
                **_of(person, _COLUMNS),
                "relationshipToUserId": person.relationship_to_user_id and str(person.relationship_to_user_id),
                "photo": exported(person.photo),
                "groupIds": groups[person.pk],
                "customFieldValues": values[person.pk],
                "importantDates": dates[person.pk],
            }


def _of(row: Any, columns: dict[str, str]) -> dict[str, Any]:
    return {key: getattr(row, column) for key, column in columns.items()}


def _groups(owner: User, ids: list[UUID]) -> dict[UUID, list[str]]:
    rows = Membership.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _gathered((row.person_id, str(row.group_id)) for row in rows.order_by("group_id"))


def _values(owner: User, ids: list[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    rows = CustomFieldValue.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _gathered(
        (row.person_id, {"templateId": str(row.template_id), "value": row.value})
        for row in rows.order_by("template_id")
    )


def _dates(owner: User, ids: list[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    rows = ImportantDate.objects.owned_by(owner).filter(person_id__gte=ids[0], person_id__lte=ids[-1])
    return _gathered((row.person_id, {"id": str(row.pk), **_of(row, _DATE)}) for row in rows.order_by("pk"))


def _gathered(pairs: Iterator[tuple[UUID, Any]]) -> dict[UUID, list[Any]]:
    """By person; nothing for those without."""
    found: dict[UUID, list[Any]] = defaultdict(list)
    for person_id, record in pairs:
        found[person_id].append(record)
    return found
