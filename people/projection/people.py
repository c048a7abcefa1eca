"""The JSON of people. Lists (people.projection.lists) and single people are assembled by the same function.

Here also: one or a few people with everything.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import F, TextField, Value
from django.db.models.functions import Cast
from orjson import Fragment, dumps

from accounts.models import User
from accounts.vocabularies import NameDisplayFormat, NameOrder
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, JsonText, TimestampText, text_value
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import Representation, dumps_ascii
from people import field_table
from people.extensions import EXTENSIONS
from people.field_table import DateKey, FieldKind
from people.models import CustomFieldValue, ImportantDate, Membership, Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import display_name
from people.projection.columns import JsonBoolean, JsonDocument, JsonMembers, JsonObject, MidnightText, column_of

# Rows fetched at once from a server-side cursor: each fetch is a round trip to PostgreSQL.
FETCH_SIZE = 250
REPEATED_IN_FEED: Final = ("groups", "relationshipToUser", "relationships", "importantDates", "shares")
"""The parts of a person that repeat other records, which the change feed contains as records of their own."""

_EMPTY_LIST = Fragment(b"[]")

# All keys in the order of the JSON, with nulls; the values of a row are then set by name.
_BLANK_PERSON: dict[str, Any] = {
    "id": None,
    **{
        field.name: None
        for field in field_table.FIELDS
        if field.kind not in {field_table.FieldKind.LIST, field_table.FieldKind.ROWS}
    },
    "deletedAt": None,
    "createdAt": None,
    "updatedAt": None,
}
COLUMNS: dict[str, Any] = {
    "id": IdHex("id"),
    **{field.name: column_of(field) for field in field_table.SCALARS},
    "contactReminderFrom": IdHex("contact_reminder_from_id"),
    "deletedAt": TimestampText("deleted_at"),
    "createdAt": TimestampText("created_at"),
    "updatedAt": TimestampText("updated_at"),
    "lists": JsonMembers(more="more"),
}
COLUMNS_WITH_LISTS: dict[str, Any] = {
    **COLUMNS,
    "lists": JsonMembers(**{field.name: field.column for field in field_table.LISTS}, more="more"),
}
_ALL_COLUMNS: dict[str, Any] = {
    **COLUMNS_WITH_LISTS,
    # The relationship type is joined, which saves a query for it.
    **{f"type_{name}": f"relationship_to_user__{name}" for name in ("name", "label", "color", "deleted_at")},
    # Joined as well: the person may have left the group.
    **{f"source_{name}": f"contact_reminder_from__{name}" for name in ("name", "deleted_at")},
    "revision": "revision",
}
_POSITIONS = {expression: position for position, expression in enumerate(COLUMNS.values())}
_pick_name_parts = itemgetter(*(_POSITIONS[column] for column in NAME_COLUMNS))


def represent_any_person(owner: User, person_id: UUID) -> Representation:
    """A person with everything, active or in the trash. Raises MissingError."""
    for _, representation in _represent_rows(owner, _any_people.rows(owner_id=owner.pk, person_ids=[person_id])):
        return representation
    raise MissingError


def represent_person(owner: User, person_id: UUID) -> Representation:
    """An active person with everything. Raises MissingError."""
    for _, representation in _represent_rows(owner, _active_people.rows(owner_id=owner.pk, person_ids=[person_id])):
        return representation
    raise MissingError


def represent_people(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active people among some hundred `ids`, each with everything, by id; `in_feed` lacks REPEATED_IN_FEED."""
    found: dict[UUID, Representation] = {}
    for batch in padded_batches(ids):
        rows = _active_people.rows(owner_id=owner.pk, person_ids=batch)
        found |= {UUID(key): representation for key, representation in _represent_rows(owner, rows, for_feed=True)}
    return found


def padded_batches(ids: Collection[UUID]) -> Iterator[list[UUID]]:
    """The ids in lists of one of four lengths, each filled up with its last id.

    CompiledQuery compiles a statement for each length.
    """
    id_list = list(ids)
    for start in range(0, len(id_list), FETCH_SIZE):
        batch = id_list[start : start + FETCH_SIZE]
        length = next(length for length in (1, 10, 50, FETCH_SIZE) if len(batch) <= length)
        yield [*batch, *[batch[-1]] * (length - len(batch))]


@query_by_ids
def _any_people(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return Person.objects.owned_by(owner_id).filter(pk__in=person_ids).values_list(*_ALL_COLUMNS.values())


@query_by_ids
def _active_people(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return Person.objects.owned_by(owner_id).active().filter(pk__in=person_ids).values_list(*_ALL_COLUMNS.values())


def _represent_rows(owner: User, rows: list[Any], *, for_feed: bool = False) -> Iterator[tuple[str, Representation]]:
    """For rows with _ALL_COLUMNS, the id of each (as IdHex) and its representation."""
    if not rows:
        return
    people = [dict(zip(_ALL_COLUMNS, row, strict=True)) for row in rows]
    types = {
        key: summarize_type(key, person["type_name"], person["type_label"], person["type_color"])
        for person in people
        if (key := person["relationshipToUserId"]) and person["type_deleted_at"] is None
    }
    sources = {
        key: summarize_source(key, person["source_name"])
        for person in people
        if (key := person["contactReminderFrom"]) and person["source_deleted_at"] is None
    }
    groups, lists, values = _load_related(owner, [UUID(person["id"]) for person in people])
    in_feed: dict[str, Fragment] = {}
    observe = _feed_observer(in_feed, values) if for_feed else None
    assemble = build_assembler(owner, COLUMNS_WITH_LISTS, types, sources, groups, lists, observe=observe)
    assemble_for_etag, left_out = assemble, _lists_beside_etag(lists)
    is_formatted = (owner.name_order, owner.name_display_format) != (NameOrder.WESTERN, NameDisplayFormat.FULL)
    if is_formatted or left_out:
        # A change of these preferences changes no person: its ETag is that of an account without them.
        plain = copy(owner)
        plain.name_order, plain.name_display_format = NameOrder.WESTERN, NameDisplayFormat.FULL
        own_rows = _extension_rows(plain, [UUID(person["id"]) for person in people]) if is_formatted else {}
        plain_lists = {**lists, **own_rows, **left_out}
        assemble_for_etag = build_assembler(plain, COLUMNS_WITH_LISTS, types, sources, groups, plain_lists)
    for row, person in zip(rows, people, strict=True):
        body = Fragment(assemble(row))
        for_etag = body if assemble_for_etag is assemble else Fragment(assemble_for_etag(row))
        yield person["id"], Representation(person["revision"], body, in_feed.get(person["id"]), for_etag)


def _feed_observer(
    in_feed: dict[str, Fragment], values: Mapping[str, list["_RelatedRow"]]
) -> Callable[[str, dict[str, Any], str], None]:
    """For build_assembler: stores each person in `in_feed` as the feed sends it, with these custom values."""
    short_values = {
        person_id: ",".join(_short_value_json(row.id, row.template_id, row.json) for row in sorted(rows))
        for person_id, rows in values.items()
    }
    feed_lists = _build_joiner({"customFieldValues": short_values})

    def observe(key: str, person: dict[str, Any], own_lists: str) -> None:
        kept = {name: value for name, value in person.items() if name not in REPEATED_IN_FEED}
        in_feed[key] = Fragment(dumps(kept)[:-1] + f",{own_lists}{feed_lists(key)}}}".encode())

    return observe


class TypeFragment(NamedTuple):
    """A relationship type: the values of `relationshipToUserId` and `relationshipToUser`, and its label."""

    id: str
    summary: Fragment
    label: str


def summarize_type(key: str, name: str, label: str, color: str) -> TypeFragment:
    """`key` is the type's id as IdHex."""
    summary = {"id": format_id(key), "name": name, "label": label, "color": color}
    return TypeFragment(format_id(key), Fragment(dumps(summary)), label)


def summarize_source(key: str, name: str) -> Fragment:
    """The value of `contactReminderFrom`; `key` is the group's id as IdHex."""
    return Fragment(dumps({"groupId": format_id(key), "name": name}))


class GroupLists(NamedTuple):
    """The groups of a person in name order: the values of `groupIds` and `groups`, and their names as one text.

    People with the same groups share one object.
    """

    ids: Fragment = _EMPTY_LIST
    summaries: Fragment = _EMPTY_LIST
    names: str = ""


def build_group_lists(groups: list[dict[str, str]]) -> GroupLists:
    return GroupLists(
        Fragment(dumps([group["id"] for group in groups])),
        Fragment(dumps(groups)),
        " ".join(group["name"] for group in groups),
    )


def build_assembler(
    owner: User,
    columns: Collection[str],
    types: Mapping[str, TypeFragment],
    sources: Mapping[str, Fragment],
    groups: Mapping[str, GroupLists],
    lists: Mapping[str, Mapping[str, str]],
    *,
    observe: Callable[[str, dict[str, Any], str], None] | None = None,
) -> Callable[[Any], bytes]:
    """Return a function that turns a row into the JSON of a person.

    Rows start with `columns` and may have more columns behind them. `types` are by id, `sources` (of summarize_source)
    by group, `groups` by person; `lists` have further lists of the JSON by name, each with the text of its entries by
    person. All ids are as IdHex. `observe` gets each person's id, the person without lists, and the text of the lists
    in the row.
    """
    order, form = owner.name_order, owner.name_display_format
    names = tuple(columns)
    further_lists = _build_joiner(lists) if lists else None

    # One function, though long: a call for each of its steps would be made for each of ten thousand people.
    def assemble(row: Any) -> bytes:
        person = _BLANK_PERSON.copy()
        person.update(zip(names, row))  # noqa: B905 - the row may be longer
        own_lists, key = person.pop("lists"), person["id"]
        person["id"] = format_id(key)
        person["displayName"] = display_name(_pick_name_parts(row), order=order, form=form)
        type_summary = types.get(person["relationshipToUserId"], _NO_TYPE)
        person["relationshipToUserId"], person["relationshipToUser"], _ = type_summary
        if source := person["contactReminderFrom"]:
            person["contactReminderFrom"] = sources.get(source)
        person["groupIds"], person["groups"], _ = groups.get(key, NO_GROUPS)
        if observe:
            observe(key, person, own_lists)
        # The lists are JSON text already: joined behind the object, they are neither parsed nor encoded again.
        return dumps(person)[:-1] + f",{own_lists}{further_lists(key) if further_lists else ''}}}".encode()

    return assemble


def _build_joiner(lists: Mapping[str, Mapping[str, str]]) -> Callable[[str], str]:
    """Return a function that makes the text of these lists of a person, by its id."""
    openings = [(f',"{field}":[', texts) for field, texts in lists.items()]

    def join(key: str) -> str:
        members: list[str] = []
        for opening, texts in openings:
            members += (opening, texts.get(key, ""), "]")
        return "".join(members)

    return join


_NO_TYPE = (None, None, None)
NO_GROUPS = GroupLists()


def _load_related(
    owner: User, ids: Sequence[UUID]
) -> tuple[dict[str, GroupLists], dict[str, Mapping[str, str]], dict[str, list["_RelatedRow"]]]:
    """The `groups` and `lists` of build_assembler for these people, and the rows of their custom values: one statement,
    and one for each extension."""
    found: dict[str, dict[str, list[_RelatedRow]]] = {_GROUP: {}, _DATE: {}, _VALUE: {}}
    for row in map(_RelatedRow._make, _related_rows.rows(owner_id=owner.pk, person_ids=ids)):
        found[row.source].setdefault(row.person_id, []).append(row)
    groups = {
        person_id: build_group_lists(
            [{"id": format_id(row.id), "name": row.name, "color": row.color} for row in sorted(rows)]
        )
        for person_id, rows in found[_GROUP].items()
    }
    dates = {
        person_id: ",".join(date_json(person_id, row.id, row.json) for row in sorted(rows))
        for person_id, rows in found[_DATE].items()
    }
    values = {
        person_id: ",".join(
            value_json(row.id, template_json(row.template_id, row.name, row.slug, row.type), row.json)
            for row in sorted(rows)
        )
        for person_id, rows in found[_VALUE].items()
    }
    lists = {"importantDates": dates, **_extension_rows(owner, ids), "customFieldValues": values}
    return groups, lists, found[_VALUE]


def _extension_rows(owner: User, ids: Sequence[UUID]) -> dict[str, Mapping[str, str]]:
    return {extension.name: extension.rows(owner, ids) for extension in EXTENSIONS if extension.name}


def _lists_beside_etag(lists: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Of the lists that are not in the ETag those that have entries, as the ETag covers them: empty."""
    beside = (extension.name for extension in EXTENSIONS if extension.name and not extension.is_in_etag)
    return {name: {} for name in beside if lists[name]}


_DATE_EXPRESSIONS: Mapping[FieldKind, Callable[[str], Any]] = {
    FieldKind.DATE: MidnightText,
    FieldKind.FLAG: JsonBoolean,
    FieldKind.LIST: JsonDocument,
}


def date_members(keys: Iterable[DateKey]) -> dict[str, Any]:
    """The members of a JsonObject with these keys of an important date."""
    return {key.name: _DATE_EXPRESSIONS.get(key.kind, F)(key.column) for key in keys}


DATE_OBJECT = JsonObject(
    **date_members(field_table.DATE_KEYS),
    deletedAt=Value(None),  # only active dates are read
    createdAt=TimestampText("created_at"),
    updatedAt=TimestampText("updated_at"),
)


def date_json(person_id: str, date_id: str, columns: str) -> str:
    """The JSON of a date; `columns` is the text of DATE_OBJECT. Formatting ids here is faster than in SQLite."""
    return f'{{"id":"{format_id(date_id)}","personId":"{format_id(person_id)}",{columns[1:]}'


def template_json(template_id: str, name: str, slug: str, type_: str) -> str:
    """The members of a custom value's JSON that name its template."""
    template = dumps_ascii({"id": format_id(template_id), "name": name, "slug": slug, "type": type_})
    return f'"templateId":"{format_id(template_id)}","template":{template}'


def value_json(value_id: str, template: str, value: str) -> str:
    """The JSON of a custom value; `template` is from template_json, `value` is JSON."""
    return f'{{"id":"{format_id(value_id)}",{template},"value":{value}}}'


def _short_value_json(value_id: str, template_id: str, value: str) -> str:
    return f'{{"id":"{format_id(value_id)}","templateId":"{format_id(template_id)}","value":{value}}}'


_GROUP, _DATE, _VALUE = "group", "date", "value"


class _RelatedRow(NamedTuple):
    """A membership, date or custom value of a person.

    The fields before `id` are the sort order of each list: groups by name, dates by creation, values by template.
    """

    source: str
    person_id: str
    position: int
    sort_text: str
    template_id: str
    id: str
    name: str
    color: str
    slug: str
    type: str
    json: str


@query_by_ids
def _related_rows(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    """The rows of three tables as _RelatedRow, in one statement."""
    groups = Membership.objects.owned_by(owner_id).filter(person_id__in=person_ids, group__deleted_at=None)
    dates = ImportantDate.objects.owned_by(owner_id).filter(person_id__in=person_ids).active()
    values = CustomFieldValue.objects.owned_by(owner_id).filter(person_id__in=person_ids, template__deleted_at=None)
    group_columns = _related_columns(
        _GROUP, sort_text="group__name_key", id=IdHex("group_id"), name="group__name", color="group__color"
    )
    date_columns = _related_columns(_DATE, sort_text=Cast("created_at", TextField()), id=IdHex("id"), json=DATE_OBJECT)
    value_columns = _related_columns(
        _VALUE,
        position="template__position",
        template_id=IdHex("template_id"),
        id=IdHex("id"),
        name="template__name",
        slug="template__slug",
        type="template__type",
        json=JsonText("value"),
    )
    rows = groups.values_list(*group_columns)
    return rows.union(dates.values_list(*date_columns), values.values_list(*value_columns), all=True)


def _related_columns(source: str, **columns: Any) -> list[Any]:
    """The columns of _RelatedRow; those that are not given are empty, since a UNION needs the same ones everywhere."""
    fixed = {"source": text_value(source), "person_id": IdHex("person_id"), "position": Value(0)}
    return [(fixed | columns).get(field, text_value("")) for field in _RelatedRow._fields]
