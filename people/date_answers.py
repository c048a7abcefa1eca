"""Important dates as answers show them."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from contacts_project.kernel.api.json import timestamp
from contacts_project.kernel.ownership.models import retention_cutoff
from people.models import ImportantDate
from people.upcoming import name_of


def important_date_answer(row: ImportantDate) -> dict[str, Any]:
    """One important date as every answer shows it."""
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        "type": row.type,
        "title": row.title,
        "date": f"{row.date.isoformat()}T00:00:00.000Z",
        "yearUnknown": row.year_unknown,
        "reminderEnabled": row.reminder_enabled,
        "reminderType": row.reminder_type,
        "reminderInterval": row.reminder_interval,
        "reminderIntervalUnit": row.reminder_interval_unit,
        "reminderLeadDays": row.reminder_lead_days,
        "deletedAt": timestamp(row.deleted_at),
        "createdAt": timestamp(row.created_at),
        "updatedAt": timestamp(row.updated_at),
    }


def deleted_dates(owner_id: UUID) -> list[dict[str, Any]]:
    """The dates in the trash, newest first; those of deleted people come back with their person."""
    rows = (
        ImportantDate.objects.owned_by(owner_id)
        .filter(deleted_at__gte=retention_cutoff(timezone.now()), person__deleted_at=None)
        .select_related("person", "owner")
        .order_by("-deleted_at", "-id")
    )
    return [{**important_date_answer(row), "personName": name_of(row.person, row.owner)} for row in rows]
