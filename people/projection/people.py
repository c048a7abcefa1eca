"""People as every answer shows them: one assembly for lists, for everybody, and for one."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID

from orjson import Fragment, dumps

from accounts.models import User
from contacts_project.kernel.api.columns import TimeText
from contacts_project.kernel.api.ids import IdKey
from contacts_project.kernel.api.json import Shown, id_text
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError
from people import field_table
from people.models import Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import display_name
from people.projection.columns import JsonMembers, column_of
from people.projection.related import Groups, Kind, groups_of, lists_of, related_of_few, type_summary, types_of

# Rows fetched at once: each time is a round trip to PostgreSQL.
FETCH = 250

# The answer in its order, empty; what a row says is put in by name.
_EMPTY: dict[str, Any] = {
    "id": None,
    **{
        field.name: None
        for field in field_table.FIELDS
        if field.kind not in {field_table.Kind.LIST, field_table.Kind.ROWS}
    },
    "deletedAt": None,
    "createdAt": None,
    "updatedAt": None,
}
_COLUMNS: dict[str, Any] = {
    "id": IdKey("id"),
    **{field.name: column_of(field) for field in field_table.SCALARS},
    "deletedAt": TimeText("deleted_at"),
    "createdAt": TimeText("created_at"),
    "updatedAt": TimeText("updated_at"),
}
_WITH_LISTS: dict[str, Any] = {
    **_COLUMNS,
    "lists": JsonMembers(**{field.name: field.column for field in field_table.LISTS}),
}
# What a person is to the user, read with the person itself.
_TYPE = ("name", "label", "color", "deleted_at")
_WHOLE: dict[str, Any] = {
    **_WITH_LISTS,
    **{f"type_{name}": f"relationship_to_user__{name}" for name in _TYPE},
    "revision": "revision",
}
_PLACES = {expression: place for place, expression in enumerate(_COLUMNS.values())}
_NAME = itemgetter(*(_PLACES[column] for column in NAME_COLUMNS))


def person_answers(owner: User, person_ids: Sequence[UUID]) -> list[Fragment]:
    """People with everything, in the order asked for, in or out of the trash."""
    found = dict(_whole(owner, _ANY.rows(owner_id=owner.pk, person_ids=person_ids)))
    return [found[key.hex].body for key in person_ids if key.hex in found]


def any_person(owner: User, person_id: UUID) -> Shown:
    """A person with everything, in or out of the trash. Three statements. Raises MissingError."""
    for _, answer in _whole(owner, _ANY.rows(owner_id=owner.pk, person_ids=[person_id])):
        return answer
    raise MissingError


def whole_person(owner: User, person_id: UUID) -> Shown:
    """An active person with everything. Three statements. Raises MissingError."""
    for _, answer in _whole(owner, _ACTIVE.rows(owner_id=owner.pk, person_ids=[person_id])):
        return answer
    raise MissingError


def whole_people(owner: User, ids: Collection[UUID]) -> dict[UUID, Shown]:
    """Those of some hundred people who are active, each with everything, by id."""
    asked = list(ids)
    found: dict[UUID, Shown] = {}
    for start in range(0, len(asked), FETCH):
        rows = _ACTIVE.rows(owner_id=owner.pk, person_ids=_filled(asked[start : start + FETCH]))
        found |= {UUID(key): answer for key, answer in _whole(owner, rows)}
    return found


def _filled(ids: list[UUID]) -> list[UUID]:
    """Ids repeated up to a round number of them, so that few statements serve any number (CompiledQuery)."""
    room = next(room for room in (1, 10, 50, FETCH) if len(ids) <= room)
    return [*ids, *[ids[-1]] * (room - len(ids))]


def project(owner: User, rows: Any, *, details: bool = True) -> list[Fragment]:
    """The answers for a queryset of few people, in its order; `details` adds the multi-value fields."""
    columns = _WITH_LISTS if details else _COLUMNS
    return _projected(owner, columns, list(rows.values_list(*columns.values())))


def project_page(owner: User, *, limit: int, offset: int, details: bool) -> list[Fragment]:
    """The same for a page of all active people, in name order."""
    columns, query = (_WITH_LISTS, _PAGE) if details else (_COLUMNS, _PAGE_WITHOUT_LISTS)
    return _projected(owner, columns, query.page(limit, offset, owner_id=owner.pk))


def _projected(owner: User, columns: Collection[str], found: list[Any]) -> list[Fragment]:
    types, groups = types_of(owner), groups_of(owner, [UUID(row[0]) for row in found])
    assemble = _assembler(owner, columns, types, groups, {})
    return [Fragment(assemble(row)) for row in found]


def project_all(owner: User, rows: Any, *, details: bool = True, everything: bool = False) -> Iterator[bytes]:
    """The same for a queryset of many people, each as JSON.

    What stands beside the rows is read at once, before the first answer; the rows themselves as they are asked for.
    """
    columns = _WITH_LISTS if details else _COLUMNS
    lists = lists_of(owner) if everything else {}
    assemble = _assembler(owner, columns, types_of(owner), groups_of(owner, None), lists)
    return map(assemble, rows.values_list(*columns.values()).iterator(chunk_size=FETCH))


def _in_name_order(owner_id: UUID, columns: Mapping[str, Any]) -> Any:
    return Person.objects.owned_by(owner_id).active().in_name_order().values_list(*columns.values())


_PAGE = CompiledQuery(lambda owner_id: _in_name_order(owner_id, _WITH_LISTS))
_PAGE_WITHOUT_LISTS = CompiledQuery(lambda owner_id: _in_name_order(owner_id, _COLUMNS))
_ANY = CompiledQuery(
    lambda owner_id, person_ids: (
        Person.objects.owned_by(owner_id).filter(pk__in=person_ids).values_list(*_WHOLE.values())
    )
)
_ACTIVE = CompiledQuery(
    lambda owner_id, person_ids: (
        Person.objects.owned_by(owner_id).active().filter(pk__in=person_ids).values_list(*_WHOLE.values())
    )
)


def _whole(owner: User, found: list[Any]) -> Iterator[tuple[str, Shown]]:
    """IdKey and answer of few people, with what is theirs in one statement, and one for each app above."""
    if not found:
        return
    types = {}
    for row in found:
        said = dict(zip(_WHOLE, row, strict=True))
        if (key := said["relationshipToUserId"]) and said["type_deleted_at"] is None:
            types[key] = type_summary(key, said["type_name"], said["type_label"], said["type_color"])
    groups, lists = related_of_few(owner, [UUID(row[0]) for row in found])
    assemble = _assembler(owner, _WITH_LISTS, types, groups, lists)
    for row in found:
        yield row[0], Shown(row[-1], Fragment(assemble(row)))


def _assembler(
    owner: User,
    columns: Collection[str],
    types: Mapping[str, Kind],
    groups: Mapping[str, Groups],
    lists: Mapping[str, Mapping[str, str]],
) -> Callable[[Any], bytes]:
    """A function that makes an answer of a row, which has `columns` and perhaps more behind them."""
    order, form = owner.name_order, owner.name_display_format
    names = tuple(columns)

    def assemble(row: Any) -> bytes:
        person = _EMPTY.copy()
        person.update(zip(names, row))  # noqa: B905 - a whole person has the columns of its type behind
        members = f",{person.pop('lists')}" if "lists" in person else ""
        key = person["id"]
        person["id"] = id_text(key)
        person["displayName"] = display_name(_NAME(row), order=order, form=form)
        person["relationshipToUserId"], person["relationshipToUser"], *_ = types.get(
            person["relationshipToUserId"], _NO_TYPE
        )
        person["groupIds"], person["groups"], _ = groups.get(key, _NO_GROUPS)
        for field, texts in lists.items():
            members = f'{members},"{field}":[{texts.get(key, "")}]'
        return b"%b%b}" % (dumps(person)[:-1], members.encode())

    return assemble


_NO_TYPE = (None, None)
_NO_GROUPS = Groups()
