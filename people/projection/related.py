"""What stands beside a person's row, read for many people at once: one query each, however many people.

Everything comes as JSON text that an answer takes in as it is (orjson.Fragment): for ten thousand people dictionaries
would cost more, in memory and in the garbage collector's time, than the database takes to write the text.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, TextField, Value
from django.db.models.functions import Cast
from orjson import Fragment, dumps

from accounts.models import User
from contacts_project.kernel.api.columns import JsonText, Raw, TimeText
from contacts_project.kernel.api.ids import IdKey
from contacts_project.kernel.api.json import ascii_json, id_text
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.extensions import EXTENSIONS
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Membership,
    RelationshipType,
)
from people.projection.columns import JsonBoolean, JsonObject, KeyList, MidnightText

Ids = Collection[UUID] | None
"""Ids of the people meant; None means everyone's."""

NOTHING = Fragment(b"[]")


class Kind(NamedTuple):
    """A relationship type, as `relationshipToUserId`, `relationshipToUser` and the search index show it."""

    id: str
    summary: Fragment
    label: str


_TYPES = CompiledQuery(
    lambda owner_id: (
        RelationshipType.objects.owned_by(owner_id).active().values_list(IdKey("id"), "name", "label", "color")
    )
)
_GROUPS = CompiledQuery(
    lambda owner_id: Group.objects.owned_by(owner_id).active().values_list("name_key", IdKey("id"), "name", "color")
)


def types_of(owner: User) -> dict[str, Kind]:
    """The account's active relationship types, by IdKey."""
    rows = _TYPES.rows(owner_id=owner.pk)
    kinds = {}
    for key, name, label, color in rows:
        kinds[key] = type_summary(key, name, label, color)
    return kinds


def type_summary(key: str, name: str, label: str, color: str) -> Kind:
    summary = {"id": id_text(key), "name": name, "label": label, "color": color}
    return Kind(id_text(key), Fragment(dumps(summary)), label)


class Groups(NamedTuple):
    """The groups of a person, in name order; people in the same groups share them."""

    ids: Fragment = NOTHING
    summaries: Fragment = NOTHING
    names: str = ""


def groups_of(owner: User, ids: Ids) -> dict[str, Groups]:
    """The active groups of each person who has any."""
    rows = _GROUPS.rows(owner_id=owner.pk)
    # Sorted here: databases collate differently.
    groups = {key: {"id": id_text(key), "name": name, "color": color} for _, key, name, color in sorted(rows)}
    if not groups:
        return {}
    shared: dict[str, Groups] = {}
    found = {}
    few = ids is not None and len(ids) <= _FEW
    members = _MEMBERS_OF.rows(owner_id=owner.pk, person_ids=list(ids or ())) if few else _members(owner.pk)
    for person, keys in members:
        if keys not in shared:
            own = set(keys.split(","))
            shared[keys] = _groups([group for key, group in groups.items() if key in own])
        found[person] = shared[keys]
    return found


def _members(owner_id: UUID) -> Any:
    """IdKey of each person who is in a group, and the IdKeys of the groups."""
    return (
        Membership.objects.owned_by(owner_id).values("person_id").values_list(IdKey("person_id"), KeyList("group_id"))
    )


_MEMBERS_OF = CompiledQuery(lambda owner_id, person_ids: _members(owner_id).filter(person_id__in=person_ids))
# Beyond so many people those of all are read.
_FEW = 500


def _groups(groups: list[dict[str, str]]) -> Groups:
    return Groups(
        Fragment(dumps([group["id"] for group in groups])),
        Fragment(dumps(groups)),
        " ".join(group["name"] for group in groups),
    )


_DATE = JsonObject(
    type=F("type"),
    title=F("title"),
    date=MidnightText("date"),
    yearUnknown=JsonBoolean("year_unknown"),
    reminderEnabled=JsonBoolean("reminder_enabled"),
    reminderType=F("reminder_type"),
    reminderInterval=F("reminder_interval"),
    reminderIntervalUnit=F("reminder_interval_unit"),
    reminderLeadDays=F("reminder_lead_days"),
    deletedAt=Value(None),  # active dates alone
    createdAt=TimeText("created_at"),
    updatedAt=TimeText("updated_at"),
)


def important_dates_of(owner: User) -> dict[str, str]:
    """The active dates of each person, in the order they were added; as people.projection.important_dates shows one."""
    rows = ImportantDate.objects.owned_by(owner).active().order_by("created_at", "id")
    columns = rows.values_list(IdKey("person_id"), IdKey("id"), _DATE).iterator()
    return _listed((person, _date_json(person, key, rest)) for person, key, rest in columns)


def _date_json(person: str, key: str, rest: str) -> str:
    """Ids are cheaper to write here than in SQLite."""
    return f'{{"id":"{id_text(key)}","personId":"{id_text(person)}",{rest[1:]}'


def custom_field_values_of(owner: User) -> dict[str, str]:
    """The values of each person whose template is active, in the order of the templates."""
    columns = CustomFieldTemplate.objects.owned_by(owner).active().values_list(IdKey("id"), "name", "slug", "type")
    templates = {key: _template_json(key, *rest) for key, *rest in columns}
    if not templates:
        return {}
    rows = CustomFieldValue.objects.owned_by(owner).filter(template__deleted_at=None)
    rows = rows.order_by("template__position", "template_id")
    found = rows.values_list(IdKey("person_id"), IdKey("id"), IdKey("template_id"), Raw("value")).iterator()
    return _listed(
        (person, _value_json(key, templates[template], value))
        for person, key, template, value in found
        if template in templates
    )


def _template_json(key: str, name: str, slug: str, kind: str) -> str:
    template = ascii_json({"id": id_text(key), "name": name, "slug": slug, "type": kind})
    return f'"templateId":"{id_text(key)}","template":{template}'


def _value_json(key: str, template: str, value: str) -> str:
    """Ids, and what is JSON already: nothing is left to escape."""
    return f'{{"id":"{id_text(key)}",{template},"value":{value}}}'


def _listed(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The JSON of each person's entries, without the brackets of the list."""
    found: dict[str, str] = {}
    for person, entry in entries:
        before = found.get(person)
        found[person] = entry if before is None else f"{before},{entry}"
    return found


def lists_of(owner: User) -> dict[str, Mapping[str, str]]:
    """The lists of an answer that shows everything: by the name of each, the JSON of its entries by person."""
    above = {extension.name: extension.rows(owner, None) for extension in EXTENSIONS if extension.name}
    return {
        "importantDates": important_dates_of(owner),
        **above,
        "customFieldValues": custom_field_values_of(owner),
    }


def related_of_few(owner: User, ids: Sequence[UUID]) -> tuple[dict[str, Groups], dict[str, Mapping[str, str]]]:
    """Groups and lists of few people, as groups_of and lists_of give those of all: one statement, and one for each app
    above.
    """
    found: dict[str, dict[str, list[_Row]]] = {GROUP: {}, DATE: {}, VALUE: {}}
    for row in map(_Row._make, _OWN_ROWS.rows(owner_id=owner.pk, person_ids=ids)):
        found[row.source].setdefault(row.person, []).append(row)
    above = {extension.name: extension.rows(owner, ids) for extension in EXTENSIONS if extension.name}
    groups = {
        person: _groups([{"id": id_text(row.key), "name": row.name, "color": row.color} for row in sorted(rows)])
        for person, rows in found[GROUP].items()
    }
    dates = {
        person: ",".join(_date_json(person, row.key, row.json) for row in sorted(rows))
        for person, rows in found[DATE].items()
    }
    values = {
        person: ",".join(
            _value_json(row.key, _template_json(row.of, row.name, row.slug, row.type), row.json) for row in sorted(rows)
        )
        for person, rows in found[VALUE].items()
    }
    return groups, {"importantDates": dates, **above, "customFieldValues": values}


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
        GROUP, first="group__name_key", key=IdKey("group_id"), name="group__name", color="group__color"
    )
    of_dates = _columns(DATE, first=Cast("created_at", TextField()), key=IdKey("id"), json=_DATE)
    of_values = _columns(
        VALUE,
        place="template__position",
        of=IdKey("template_id"),
        key=IdKey("id"),
        name="template__name",
        slug="template__slug",
        type="template__type",
        json=JsonText("value"),
    )
    rows = groups.values_list(*of_groups)
    return rows.union(dates.values_list(*of_dates), values.values_list(*of_values), all=True)


def _columns(source: str, **columns: Any) -> list[Any]:
    """The columns of _Row, empty where none is named."""
    fixed = {"source": _text(source), "person": IdKey("person_id"), "place": Value(0)}
    return [(fixed | columns).get(field, _text("")) for field in _Row._fields]


def _text(value: str) -> Value:
    return Value(value, output_field=TextField())


_OWN_ROWS = CompiledQuery(_own_rows)
