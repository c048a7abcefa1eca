"""What stands beside a person's row, read for many people at once: one query each, however many people.

Everything comes as JSON text that an answer takes in as it is (orjson.Fragment): for ten thousand people dictionaries
would cost more, in memory and in the garbage collector's time, than the database takes to write the text.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Value
from orjson import Fragment, dumps

from accounts.models import User
from contacts_project.kernel.api.columns import IdKey, TimeText, id_text
from contacts_project.kernel.api.json import ascii_json
from people.aspects import aspects
from people.models import CustomFieldTemplate, CustomFieldValue, Group, ImportantDate, Membership, Person
from people.projection.columns import JsonObject, KeyList, MidnightText, Raw, Truth

Ids = Collection[UUID] | None
"""Ids of the people meant; None means everyone's."""

NOTHING = Fragment(b"[]")


def _of(model: Any, owner: User, ids: Ids) -> Any:
    rows = model.objects.owned_by(owner)
    return rows if ids is None else rows.filter(person_id__in=ids)


class Kind(NamedTuple):
    """A relationship type, as `relationshipToUserId`, `relationshipToUser` and the search index show it."""

    id: str
    summary: Fragment
    label: str


def types_of(owner: User) -> dict[str, Kind]:
    """The account's active relationship types, by IdKey."""
    model: Any = Person._meta.get_field("relationship_to_user").related_model
    rows = model.objects.owned_by(owner).active().values_list(IdKey("id"), "name", "label", "color")
    kinds = {}
    for key, name, label, color in rows:
        summary = {"id": id_text(key), "name": name, "label": label, "color": color}
        kinds[key] = Kind(id_text(key), Fragment(dumps(summary)), label)
    return kinds


class Groups(NamedTuple):
    """The groups of a person, in name order; people in the same groups share them."""

    ids: Fragment = NOTHING
    summaries: Fragment = NOTHING
    names: str = ""


def groups_of(owner: User, ids: Ids) -> dict[str, Groups]:
    """The active groups of each person who has any."""
    rows = Group.objects.owned_by(owner).active().order_by("name_key", "id").values_list(IdKey("id"), "name", "color")
    groups = {key: {"id": id_text(key), "name": name, "color": color} for key, name, color in rows}
    if not groups:
        return {}
    shared: dict[str, Groups] = {}
    found = {}
    members = _of(Membership, owner, ids).values("person_id").values_list(IdKey("person_id"), KeyList("group_id"))
    for person, keys in members:
        if keys not in shared:
            own = set(keys.split(","))
            shared[keys] = _groups([group for key, group in groups.items() if key in own])
        found[person] = shared[keys]
    return found


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
    yearUnknown=Truth("year_unknown"),
    reminderEnabled=Truth("reminder_enabled"),
    reminderType=F("reminder_type"),
    reminderInterval=F("reminder_interval"),
    reminderIntervalUnit=F("reminder_interval_unit"),
    reminderLeadDays=F("reminder_lead_days"),
    deletedAt=Value(None),  # active dates alone
    createdAt=TimeText("created_at"),
    updatedAt=TimeText("updated_at"),
)


def important_dates_of(owner: User, ids: Ids) -> dict[str, str]:
    """The active dates of each person, in the order they were added; as people.date_answers shows one."""
    rows = _of(ImportantDate, owner, ids).active().order_by("created_at", "id")
    # Ids are cheaper to write here than in SQLite.
    return _listed(
        (person, f'{{"id":"{id_text(key)}","personId":"{id_text(person)}",{rest[1:]}')
        for person, key, rest in rows.values_list(IdKey("person_id"), IdKey("id"), _DATE).iterator()
    )


def custom_field_values_of(owner: User, ids: Ids) -> dict[str, str]:
    """The values of each person whose template is active, in the order of the templates."""
    templates = {}
    columns = CustomFieldTemplate.objects.owned_by(owner).active().values_list(IdKey("id"), "name", "slug", "type")
    for key, name, slug, kind in columns:
        template = ascii_json({"id": id_text(key), "name": name, "slug": slug, "type": kind})
        templates[key] = f'"templateId":"{id_text(key)}","template":{template}'
    if not templates:
        return {}
    rows = _of(CustomFieldValue, owner, ids).filter(template__deleted_at=None)
    rows = rows.order_by("template__position", "template_id")
    columns = rows.values_list(IdKey("person_id"), IdKey("id"), IdKey("template_id"), Raw("value")).iterator()
    # Ids, and what is JSON already: nothing is left to escape.
    return _listed(
        (person, f'{{"id":"{id_text(key)}",{templates[template]},"value":{value}}}')
        for person, key, template, value in columns
        if template in templates
    )


def _listed(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The JSON of each person's entries, without the brackets of the list."""
    found: dict[str, str] = {}
    for person, entry in entries:
        before = found.get(person)
        found[person] = entry if before is None else f"{before},{entry}"
    return found


def lists_of(owner: User, ids: Ids) -> dict[str, Mapping[str, str]]:
    """The lists of an answer that shows everything: by the name of each, the JSON of its entries by person."""
    above = {aspect.name: aspect.rows(owner, ids) for aspect in aspects() if aspect.name}
    return {
        "importantDates": important_dates_of(owner, ids),
        **above,
        "customFieldValues": custom_field_values_of(owner, ids),
    }
