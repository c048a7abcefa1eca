"""Writes people into the document: a batch at a time, five queries each."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import UUID

from accounts.models import User
from people.fields.scalars import SCALARS
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.transfer.pictures import exported

_BATCH = 500
_COLUMNS = {
    **SCALARS,
    "uid": "uid",
    "cardLines": "card_lines",
    "phoneNumbers": "phone_numbers",
    "emails": "emails",
    "addresses": "addresses",
    "urls": "urls",
    "imHandles": "im_handles",
    "locations": "locations",
    "customFields": "custom_fields",
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
