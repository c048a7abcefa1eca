"""The JSON of important dates."""

from typing import Any

from accounts.models import User
from contacts_project.kernel.api.json import Representation, format_timestamp
from people.models import ImportantDate


def serialize_date(row: ImportantDate) -> dict[str, Any]:
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
        "extraLeadDays": row.extra_lead_days,
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def represent_date(row: ImportantDate) -> Representation:
    """The date with the revision of its row."""
    return Representation(row.revision, serialize_date(row))


def deleted_dates(owner: User, rows: Any) -> list[dict[str, Any]]:
    """Deleted dates, each with the name of its person."""
    dates = rows.select_related("person")
    return [{**serialize_date(row), "personName": row.person.display_name_for(owner)} for row in dates]
