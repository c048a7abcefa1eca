"""The JSON of important dates."""

from collections.abc import Collection
from itertools import chain
from uuid import UUID

from django.db.models import QuerySet
from orjson import loads

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.ids import IdHex
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from people.field_table import DATE_KEYS
from people.models import ImportantDate
from people.projection.people import DATE_OBJECT, padded_batches

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


def load_dates(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active dates of `ids` of active people, by id: each as `represent_date` has it, without a model instance."""
    batches = (_active_by_ids.rows(owner_id=owner.pk, date_ids=batch) for batch in padded_batches(ids))
    return {
        UUID(key): Representation(revision, {"id": format_id(key), "personId": format_id(person_key), **loads(columns)})
        for revision, key, person_key, columns in chain.from_iterable(batches)
    }


@query_by_ids
def _active_by_ids(owner_id: UUID, date_ids: Collection[UUID]) -> Rows:
    rows = ImportantDate.objects.owned_by(owner_id).active().filter(pk__in=date_ids, person__deleted_at=None)
    return rows.values_list("revision", IdHex("id"), IdHex("person_id"), DATE_OBJECT)


def deleted_dates(owner: User, rows: QuerySet[ImportantDate]) -> list[JsonObject]:
    """Deleted dates, each with the name of its person."""
    dates = rows.select_related("person")
    return [{**serialize_date(row), "personName": row.person.display_name_for(owner)} for row in dates]
