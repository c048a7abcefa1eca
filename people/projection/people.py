"""People as every answer shows them: one assembly for lists, for everybody, and for one."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any
from uuid import UUID

import orjson
from django.db.models import F
from orjson import Fragment

from accounts.models import User
from contacts_project.api.columns import IdKey, TimeText, id_text
from people.models import Person
from people.names import display_name
from people.projection.columns import DayText, Raw
from people.projection.related import (
    NOTHING,
    Groups,
    Ids,
    groups_of,
    lists_of,
    types_of,
)

CHUNK = 100

_COLUMNS: tuple[Any, ...] = (
    IdKey("id"),
    *(
        F(column)
        for column in (
            "name",
            "surname",
            "middle_name",
            "second_last_name",
            "nickname",
            "prefix",
            "suffix",
            "display_name_override",
            "organization",
            "job_title",
            "gender",
        )
    ),
    DayText("anniversary"),
    DayText("last_contact"),
    F("notes"),
    IdKey("relationship_to_user_id"),
    Raw("contact_reminder_enabled"),
    F("contact_reminder_interval"),
    F("contact_reminder_interval_unit"),
    Raw("card_dav_sync_enabled"),
    F("photo"),
    F("uid"),
    TimeText("deleted_at"),
    TimeText("created_at"),
    TimeText("updated_at"),
)
_DOCUMENTS = tuple(Raw(column) for column in Person.DOCUMENTS)

Person_ = dict[str, Any]


def person_answers(owner: User, person_ids: Collection[UUID]) -> list[Person_]:
    """People with everything, in the order asked for, in or out of the trash. Lists in them are orjson.Fragments."""
    rows = Person.objects.owned_by(owner).filter(pk__in=person_ids)
    found = {person["id"]: person for person in project(owner, rows, ids=list(person_ids), everything=True)}
    return [found[str(key)] for key in person_ids if str(key) in found]


def project(
    owner: User, rows: Any, *, ids: Ids, details: bool = True, everything: bool = False, lazily: bool = False
) -> Iterator[Person_]:
    """The answers for a queryset of people; `ids` names them where they are few, so that less is read beside them.

    `details` adds the multi-value fields, `everything` dates, relationships and custom values. What stands beside the
    rows is read at once, before the first answer; the rows themselves `lazily`, for answers that are streamed.
    """
    columns = _COLUMNS + (_DOCUMENTS if details else ())
    assemble = _assembler(owner, ids, details=details, everything=everything)
    values = rows.values_list(*columns)
    return map(assemble, values.iterator(chunk_size=CHUNK) if lazily else list(values))


def _assembler(owner: User, ids: Ids, *, details: bool, everything: bool) -> Callable[[Any], Person_]:
    """A function that makes an answer of a row."""
    types, groups = types_of(owner), groups_of(owner, ids)
    lists = lists_of(owner, ids) if everything else {}
    order, form = owner.name_order, owner.name_display_format

    def assemble(row: Any) -> Person_:
        key, person_id = row[0], id_text(row[0])
        name = display_name(row[1:9], order=order, form=form)
        person = _scalars(row, person_id, name, types.get(row[15], _NO_TYPE), groups.get(key, _NO_GROUPS))
        if details:
            for field, document in zip(_DETAILS, row[25:], strict=True):
                person[field] = NOTHING if document == "[]" else Fragment(document)
        for field, texts in lists.items():
            person[field] = Fragment(f"[{texts[key]}]") if key in texts else NOTHING
        return person

    return assemble


_NO_TYPE = (None, None)
_NO_GROUPS = Groups()
_DETAILS = ("phoneNumbers", "emails", "addresses", "urls", "imHandles", "locations", "customFields")


def _scalars(row: Any, person_id: str, name: str, kind: Any, groups: Groups) -> Person_:
    return {
        "id": person_id,
        "name": row[1],
        "surname": row[2],
        "middleName": row[3],
        "secondLastName": row[4],
        "nickname": row[5],
        "prefix": row[6],
        "suffix": row[7],
        "displayName": name,
        "displayNameOverride": row[8],
        "organization": row[9],
        "jobTitle": row[10],
        "gender": row[11],
        "anniversary": row[12],
        "lastContact": row[13],
        "notes": row[14],
        "relationshipToUserId": kind[0],
        "relationshipToUser": kind[1],
        "groupIds": groups.ids,
        "groups": groups.summaries,
        "contactReminderEnabled": row[16],
        "contactReminderInterval": row[17],
        "contactReminderIntervalUnit": row[18],
        "cardDavSyncEnabled": row[19],
        "photo": row[20],
        "uid": row[21],
        "deletedAt": row[22],
        "createdAt": row[23],
        "updatedAt": row[24],
    }


def streamed(people: Iterable[Person_]) -> Iterator[bytes]:
    """The JSON of `{"people": [...]}` in chunks, so that the answer is never whole in memory."""
    chunk: list[Person_] = []
    opening = b'{"people":['
    for person in people:
        chunk.append(person)
        if len(chunk) == CHUNK:
            yield opening + orjson.dumps(chunk)[1:-1]
            chunk.clear()
            opening = b","
    if chunk:
        yield opening + orjson.dumps(chunk)[1:-1]
        opening = b","
    yield b"]}" if opening == b"," else b'{"people":[]}'
