"""People as every answer shows them: one assembly for lists, for everybody, and for one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from orjson import Fragment, dumps

from accounts.models import User
from contacts_project.kernel.api.columns import IdKey, TimeText, id_text
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.models import Person
from people.names import COLUMNS, display_name
from people.projection.columns import DayText, JsonMembers, Raw
from people.projection.related import Groups, Kind, beside_few, groups_of, lists_of, type_summary, types_of

# People in a piece of a streamed answer.
CHUNK = 25
# Rows fetched at once: each time is a round trip to PostgreSQL.
FETCH = 250

_COLUMNS: tuple[Any, ...] = (
    IdKey("id"),
    *COLUMNS,
    "organization",
    "job_title",
    "gender",
    DayText("anniversary"),
    DayText("last_contact"),
    "notes",
    IdKey("relationship_to_user_id"),
    Raw("contact_reminder_enabled"),
    "contact_reminder_interval",
    "contact_reminder_interval_unit",
    Raw("card_dav_sync_enabled"),
    "photo",
    "uid",
    TimeText("deleted_at"),
    TimeText("created_at"),
    TimeText("updated_at"),
)
_DETAILS = JsonMembers(
    phoneNumbers="phone_numbers",
    emails="emails",
    addresses="addresses",
    urls="urls",
    imHandles="im_handles",
    locations="locations",
    customFields="custom_fields",
)


def person_answers(owner: User, person_ids: Sequence[UUID]) -> list[Fragment]:
    """People with everything, in the order asked for, in or out of the trash."""
    found = dict(_whole(owner, _ANY.rows(owner_id=owner.pk, person_ids=person_ids)))
    return [found[key.hex] for key in person_ids if key.hex in found]


def whole_person(owner: User, person_id: UUID) -> Fragment | None:
    """An active person with everything; None where there is none. Three statements."""
    for _, answer in _whole(owner, _ACTIVE.rows(owner_id=owner.pk, person_ids=[person_id])):
        return answer
    return None


def project(owner: User, rows: Any, *, details: bool = True) -> list[Fragment]:
    """The answers for a queryset of few people, in its order; `details` adds the multi-value fields."""
    found = list(rows.values_list(*_COLUMNS, *([_DETAILS] if details else [])))
    types, groups = types_of(owner), groups_of(owner, [UUID(row[0]) for row in found])
    assemble = _assembler(owner, types, groups, {}, details=details)
    return [Fragment(assemble(row)) for row in found]


def project_all(owner: User, rows: Any, *, details: bool = True, everything: bool = False) -> Iterator[bytes]:
    """The same for a queryset of many people, each as JSON.

    What stands beside the rows is read at once, before the first answer; the rows themselves as they are asked for.
    """
    lists = lists_of(owner) if everything else {}
    assemble = _assembler(owner, types_of(owner), groups_of(owner, None), lists, details=details)
    columns = (*_COLUMNS, *([_DETAILS] if details else []))
    return map(assemble, rows.values_list(*columns).iterator(chunk_size=FETCH))


# What a person is to the user, read with the person itself.
_TYPE: tuple[Any, ...] = tuple(f"relationship_to_user__{name}" for name in ("name", "label", "color", "deleted_at"))


_ANY = CompiledQuery(
    lambda owner_id, person_ids: (
        Person.objects.owned_by(owner_id).filter(pk__in=person_ids).values_list(*_COLUMNS, _DETAILS, *_TYPE)
    )
)
_ACTIVE = CompiledQuery(
    lambda owner_id, person_ids: (
        Person.objects.owned_by(owner_id).active().filter(pk__in=person_ids).values_list(*_COLUMNS, _DETAILS, *_TYPE)
    )
)


def _whole(owner: User, found: list[Any]) -> Iterator[tuple[str, Fragment]]:
    """IdKey and answer of few people, with what is theirs in one statement, and one for each app above."""
    if not found:
        return
    types = {row[15]: type_summary(row[15], *row[26:29]) for row in found if row[15] and row[29] is None}
    groups, lists = beside_few(owner, [UUID(row[0]) for row in found])
    assemble = _assembler(owner, types, groups, lists, details=True)
    for row in found:
        yield row[0], Fragment(assemble(row))


def _assembler(
    owner: User,
    types: Mapping[str, Kind],
    groups: Mapping[str, Groups],
    lists: Mapping[str, Mapping[str, str]],
    *,
    details: bool,
) -> Callable[[Any], bytes]:
    """A function that makes an answer of a row."""
    order, form = owner.name_order, owner.name_display_format

    def assemble(row: Any) -> bytes:
        key, person_id = row[0], id_text(row[0])
        name = display_name(row[1:9], order=order, form=form)
        person = dumps(_scalars(row, person_id, name, types.get(row[15], _NO_TYPE), groups.get(key, _NO_GROUPS)))
        members = f",{row[25]}" if details else ""
        for field, texts in lists.items():
            members = f'{members},"{field}":[{texts.get(key, "")}]'
        return b"%b%b}" % (person[:-1], members.encode())

    return assemble


_NO_TYPE = (None, None)
_NO_GROUPS = Groups()


def _scalars(row: Any, person_id: str, name: str, kind: Any, groups: Groups) -> dict[str, Any]:
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


def streamed(people: Iterable[bytes]) -> Iterator[bytes]:
    """The JSON of `{"people": [...]}` in chunks, so that the answer is never whole in memory."""
    left, opening = iter(people), b'{"people":['
    while chunk := b",".join(islice(left, CHUNK)):
        yield opening + chunk
        opening = b","
    yield b"]}" if opening == b"," else b'{"people":[]}'
