"""People as every answer shows them: one assembly for lists (people.projection.lists) and for one, and one or few with
everything, in three statements.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, TextField, Value
from django.db.models.functions import Cast
from orjson import Fragment, dumps

from accounts.models import User
from contacts_project.kernel.api.columns import JsonText, TimestampText
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import Representation, dumps_ascii, format_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError
from people import field_table
from people.extensions import EXTENSIONS
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import display_name
from people.projection.columns import JsonBoolean, JsonDocument, JsonMembers, JsonObject, MidnightText, column_of

# Rows fetched at once: each time is a round trip to PostgreSQL.
FETCH = 250

NOTHING = Fragment(b"[]")

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
COLUMNS: dict[str, Any] = {
    "id": IdHex("id"),
    **{field.name: column_of(field) for field in field_table.SCALARS},
    "deletedAt": TimestampText("deleted_at"),
    "createdAt": TimestampText("created_at"),
    "updatedAt": TimestampText("updated_at"),
    "lists": JsonMembers(more="more"),
}
WITH_LISTS: dict[str, Any] = {
    **COLUMNS,
    "lists": JsonMembers(**{field.name: field.column for field in field_table.LISTS}, more="more"),
}
# What a person is to the user, read with the person itself.
_TYPE = ("name", "label", "color", "deleted_at")
_WHOLE: dict[str, Any] = {
    **WITH_LISTS,
    **{f"type_{name}": f"relationship_to_user__{name}" for name in _TYPE},
    "revision": "revision",
}
_PLACES = {expression: place for place, expression in enumerate(COLUMNS.values())}
_NAME = itemgetter(*(_PLACES[column] for column in NAME_COLUMNS))


def person_answers(owner: User, person_ids: Sequence[UUID]) -> list[Fragment]:
    """People with everything, in the order asked for, in or out of the trash."""
    found = dict(_whole(owner, _ANY.rows(owner_id=owner.pk, person_ids=person_ids)))
    return [found[key.hex].body for key in person_ids if key.hex in found]


def any_person(owner: User, person_id: UUID) -> Representation:
    """A person with everything, in or out of the trash. Three statements. Raises MissingError."""
    for _, answer in _whole(owner, _ANY.rows(owner_id=owner.pk, person_ids=[person_id])):
        return answer
    raise MissingError


def whole_person(owner: User, person_id: UUID) -> Representation:
    """An active person with everything. Three statements. Raises MissingError."""
    for _, answer in _whole(owner, _ACTIVE.rows(owner_id=owner.pk, person_ids=[person_id])):
        return answer
    raise MissingError


def whole_people(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """Those of some hundred people who are active, each with everything, by id."""
    asked = list(ids)
    found: dict[UUID, Representation] = {}
    for start in range(0, len(asked), FETCH):
        rows = _ACTIVE.rows(owner_id=owner.pk, person_ids=_filled(asked[start : start + FETCH]))
        found |= {UUID(key): answer for key, answer in _whole(owner, rows)}
    return found


def _filled(ids: list[UUID]) -> list[UUID]:
    """Ids repeated up to a round number of them, so that few statements serve any number (CompiledQuery)."""
    room = next(room for room in (1, 10, 50, FETCH) if len(ids) <= room)
    return [*ids, *[ids[-1]] * (room - len(ids))]


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


def _whole(owner: User, found: list[Any]) -> Iterator[tuple[str, Representation]]:
    """IdHex and answer of few people, with what is theirs in one statement, and one for each app above."""
    if not found:
        return
    types = {}
    for row in found:
        said = dict(zip(_WHOLE, row, strict=True))
        if (key := said["relationshipToUserId"]) and said["type_deleted_at"] is None:
            types[key] = type_summary(key, said["type_name"], said["type_label"], said["type_color"])
    groups, lists = _related(owner, [UUID(row[0]) for row in found])
    assemble = assembler(owner, WITH_LISTS, types, groups, lists)
    for row in found:
        yield row[0], Representation(row[-1], Fragment(assemble(row)))


class Kind(NamedTuple):
    """A relationship type, as `relationshipToUserId`, `relationshipToUser` and the search index show it."""

    id: str
    summary: Fragment
    label: str


def type_summary(key: str, name: str, label: str, color: str) -> Kind:
    summary = {"id": format_id(key), "name": name, "label": label, "color": color}
    return Kind(format_id(key), Fragment(dumps(summary)), label)


class Groups(NamedTuple):
    """The groups of a person, in name order; people in the same groups share them."""

    ids: Fragment = NOTHING
    summaries: Fragment = NOTHING
    names: str = ""


def groups_answer(groups: list[dict[str, str]]) -> Groups:
    return Groups(
        Fragment(dumps([group["id"] for group in groups])),
        Fragment(dumps(groups)),
        " ".join(group["name"] for group in groups),
    )


def assembler(
    owner: User,
    columns: Collection[str],
    types: Mapping[str, Kind],
    groups: Mapping[str, Groups],
    lists: Mapping[str, Mapping[str, str]],
) -> Callable[[Any], bytes]:
    """A function that makes an answer of a row, which has `columns` and perhaps more behind them."""
    order, form = owner.name_order, owner.name_display_format
    names = tuple(columns)
    more = [(f',"{field}":[', texts) for field, texts in lists.items()]

    def assemble(row: Any) -> bytes:
        person = _EMPTY.copy()
        person.update(zip(names, row))  # noqa: B905 - a whole person has the columns of its type behind
        members = [",", person.pop("lists")]
        key = person["id"]
        person["id"] = format_id(key)
        person["displayName"] = display_name(_NAME(row), order=order, form=form)
        kind = types.get(person["relationshipToUserId"], _NO_TYPE)
        person["relationshipToUserId"], person["relationshipToUser"], _ = kind
        person["groupIds"], person["groups"], _ = groups.get(key, NO_GROUPS)
        for opening, texts in more:
            members += (opening, texts.get(key, ""), "]")
        members.append("}")
        return dumps(person)[:-1] + "".join(members).encode()

    return assemble


_NO_TYPE = (None, None, None)
NO_GROUPS = Groups()


def _related(owner: User, ids: Sequence[UUID]) -> tuple[dict[str, Groups], dict[str, Mapping[str, str]]]:
    """Groups of each person, and by the name of a list the JSON of its entries: one statement, and one for each app
    above.
    """
    found: dict[str, dict[str, list[_Row]]] = {GROUP: {}, DATE: {}, VALUE: {}}
    for row in map(_Row._make, _OWN_ROWS.rows(owner_id=owner.pk, person_ids=ids)):
        found[row.source].setdefault(row.person, []).append(row)
    above = {extension.name: extension.rows(owner, ids) for extension in EXTENSIONS if extension.name}
    groups = {
        person: groups_answer(
            [{"id": format_id(row.key), "name": row.name, "color": row.color} for row in sorted(rows)]
        )
        for person, rows in found[GROUP].items()
    }
    dates = {
        person: ",".join(date_json(person, row.key, row.json) for row in sorted(rows))
        for person, rows in found[DATE].items()
    }
    values = {
        person: ",".join(
            value_json(row.key, template_json(row.of, row.name, row.slug, row.type), row.json) for row in sorted(rows)
        )
        for person, rows in found[VALUE].items()
    }
    return groups, {"importantDates": dates, **above, "customFieldValues": values}


DATE_COLUMNS = JsonObject(
    type=F("type"),
    title=F("title"),
    date=MidnightText("date"),
    yearUnknown=JsonBoolean("year_unknown"),
    reminderEnabled=JsonBoolean("reminder_enabled"),
    reminderType=F("reminder_type"),
    reminderInterval=F("reminder_interval"),
    reminderIntervalUnit=F("reminder_interval_unit"),
    reminderLeadDays=F("reminder_lead_days"),
    extraLeadDays=JsonDocument("extra_lead_days"),
    deletedAt=Value(None),  # active dates alone
    createdAt=TimestampText("created_at"),
    updatedAt=TimestampText("updated_at"),
)


def date_json(person: str, key: str, rest: str) -> str:
    """Ids are cheaper to write here than in SQLite."""
    return f'{{"id":"{format_id(key)}","personId":"{format_id(person)}",{rest[1:]}'


def template_json(key: str, name: str, slug: str, kind: str) -> str:
    template = dumps_ascii({"id": format_id(key), "name": name, "slug": slug, "type": kind})
    return f'"templateId":"{format_id(key)}","template":{template}'


def value_json(key: str, template: str, value: str) -> str:
    """Ids, and what is JSON already: nothing is left to escape."""
    return f'{{"id":"{format_id(key)}",{template},"value":{value}}}'


GROUP, DATE, VALUE = "group", "date", "value"


class _Row(NamedTuple):
    """A row of what is a person's own, of one of three tables; they sort as the lists show them."""

    source: str
    person: str
    place: int
    first: str
    of: str
    key: str
    name: str
    color: str
    slug: str
    type: str
    json: str


def _own_rows(owner_id: UUID, person_ids: Collection[UUID]) -> Any:
    """Memberships, dates and custom values of people as rows of one shape, in one statement."""
    groups = Membership.objects.owned_by(owner_id).filter(person_id__in=person_ids, group__deleted_at=None)
    dates = ImportantDate.objects.owned_by(owner_id).filter(person_id__in=person_ids).active()
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person_id__in=person_ids, template__deleted_at=None)
    of_groups = _columns(
        GROUP, first="group__name_key", key=IdHex("group_id"), name="group__name", color="group__color"
    )
    of_dates = _columns(DATE, first=Cast("created_at", TextField()), key=IdHex("id"), json=DATE_COLUMNS)
    of_values = _columns(
        VALUE,
        place="template__position",
        of=IdHex("template_id"),
        key=IdHex("id"),
        name="template__name",
        slug="template__slug",
        type="template__type",
        json=JsonText("value"),
    )
    rows = groups.values_list(*of_groups)
    return rows.union(dates.values_list(*of_dates), values.values_list(*of_values), all=True)


def _columns(source: str, **columns: Any) -> list[Any]:
    """The columns of _Row, empty where none is named."""
    fixed = {"source": _text(source), "person": IdHex("person_id"), "place": Value(0)}
    return [(fixed | columns).get(field, _text("")) for field in _Row._fields]


def _text(value: str) -> Value:
    return Value(value, output_field=TextField())


_OWN_ROWS = CompiledQuery(_own_rows)
