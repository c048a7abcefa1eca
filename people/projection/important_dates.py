"""The JSON of important dates."""

from django.db.models import QuerySet

from accounts.models import User
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.representations import Representation
from people.field_table import DATE_KEYS
from people.models import ImportantDate

_COLUMNS = {key.name: key.column for key in DATE_KEYS}


def serialize_date(row: ImportantDate) -> JsonObject:
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        **{name: getattr(row, column) for name, column in _COLUMNS.items()},
        "date": f"{row.date.isoformat()}T00:00:00.000Z",
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def represent_date(row: ImportantDate) -> Representation:
    """The date with the revision of its row."""
    return Representation(row.revision, serialize_date(row))


def deleted_dates(owner: User, rows: QuerySet[ImportantDate]) -> list[JsonObject]:
    """Deleted dates, each with the name of its person."""
    dates = rows.select_related("person")
    return [{**serialize_date(row), "personName": row.person.display_name_for(owner)} for row in dates]
