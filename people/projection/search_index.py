"""The search index: a flat record for each person, whose multi-value fields are joined into one text each."""

from collections.abc import Iterator
from typing import Any

import orjson

from accounts.models import User
from contacts_project.kernel.api.columns import IdKey, id_text
from people.fields.entries import address_text
from people.models import Person
from people.names import COLUMNS, display_name
from people.projection.columns import Raw
from people.projection.people import FETCH
from people.projection.related import groups_of, types_of

_DOCUMENTS = ("phone_numbers", "emails", "addresses", "urls", "im_handles", "custom_fields")
_COLUMNS: tuple[Any, ...] = (
    IdKey("id"),
    *COLUMNS,
    "organization",
    "job_title",
    "notes",
    "photo",
    IdKey("relationship_to_user_id"),
    *(Raw(field) for field in _DOCUMENTS),
)


def search_records(owner: User) -> Iterator[bytes]:
    """A record for everybody as JSON, in name order; what stands beside the rows is read at once, the rows lazily."""
    types, groups = types_of(owner), groups_of(owner, None)
    labels = {key: kind.label for key, kind in types.items()}
    order, form = owner.name_order, owner.name_display_format

    def record(row: Any) -> bytes:
        # Parsed together: one call costs less than six.
        phones, emails, addresses, urls, handles, fields = orjson.loads(f"[{','.join(row[14:])}]")
        return orjson.dumps(
            {
                "id": id_text(row[0]),
                "name": row[1],
                "surname": row[2],
                "middleName": row[3],
                "secondLastName": row[4],
                "nickname": row[5],
                "displayName": display_name(row[1:9], order=order, form=form),
                "organization": row[9],
                "jobTitle": row[10],
                "notes": row[11],
                "photo": row[12],
                "phones": " ".join([entry["number"] for entry in phones]),
                "emails": " ".join([entry["email"] for entry in emails]),
                "addresses": " ".join([part for entry in addresses for part in address_text(entry) if part]),
                "urls": " ".join([entry["url"] for entry in urls]),
                "imHandles": " ".join([entry["handle"] for entry in handles]),
                "groups": groups[row[0]].names if row[0] in groups else "",
                "customFields": " ".join([f"{entry['key']} {entry['value']}".strip() for entry in fields]),
                "relationshipToUser": labels.get(row[13], ""),
            }
        )

    rows = Person.objects.owned_by(owner).active().in_name_order().values_list(*_COLUMNS)
    return map(record, rows.iterator(chunk_size=FETCH))
