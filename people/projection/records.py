"""The JSON of the records beside people: groups, templates of custom fields, important dates, interactions.

A fixed number of queries for any number of records of a kind.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from uuid import UUID

from django.db.models import QuerySet
from orjson import loads

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from contacts_project.kernel.text_forms import fold
from people.counts import MEMBERS, counts_by_id
from people.field_table import DATE_KEYS
from people.models import CustomFieldTemplate, Group, ImportantDate, Interaction, Membership, Participation
from people.names import COLUMNS, format_name
from people.projection.people import DATE_OBJECT, padded_batches

_DATE_COLUMNS = {key.name: key.column for key in DATE_KEYS}


def serialize_groups(rows: Iterable[Group]) -> list[JsonObject]:
    """The groups of a queryset, in its order. `memberCount` excludes people in the trash."""
    groups = list(rows)
    members = counts_by_id(groups[0].owner_id, MEMBERS) if groups else {}
    return [_serialize_group(group, members.get(group.pk, 0)) for group in groups]


def list_groups(owner: User) -> list[JsonObject]:
    """The active groups, sorted by name without case and accents."""
    groups = serialize_groups(Group.objects.owned_by(owner).active())
    return sorted(groups, key=lambda group: (fold(group["name"]), group["id"]))


def represent_group(owner: User, group_id: UUID) -> Representation:
    """One group, active or in the trash, with its people in name order. Raises MissingError."""
    group = Group.objects.owned_by(owner).find(group_id)
    return _with_people(owner, [group])[group.pk]


def represent_groups(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active groups among `ids`, with their people, by id."""
    return _with_people(owner, list(Group.objects.owned_by(owner).active().filter(pk__in=ids)))


def _with_people(owner: User, groups: Sequence[Group]) -> dict[UUID, Representation]:
    records = {
        group.pk.hex: {**record, "people": []} for group, record in zip(groups, serialize_groups(groups), strict=True)
    }
    members = Membership.objects.owned_by(owner).filter(group__in=groups, person__deleted_at=None)
    members = members.order_by("person__sort_key", "person_id")
    names = (f"person__{column}" for column in COLUMNS)
    for group_key, person_key, *parts in members.values_list(IdHex("group_id"), IdHex("person_id"), *names):
        records[group_key]["people"].append({"id": format_id(person_key), "name": format_name(owner, parts)})
    return {group.pk: Representation(group.revision, records[group.pk.hex]) for group in groups}


def _serialize_group(group: Group, members: int) -> JsonObject:
    return {
        "id": str(group.pk),
        "name": group.name,
        "description": group.description,
        "color": group.color,
        "contactReminder": group.contact_reminder,
        "leadDays": group.lead_days,
        "memberCount": members,
        "deletedAt": format_timestamp(group.deleted_at),
        "createdAt": format_timestamp(group.created_at),
        "updatedAt": format_timestamp(group.updated_at),
    }


def serialize_template(row: CustomFieldTemplate) -> JsonObject:
    return {
        "id": str(row.pk),
        "name": row.name,
        "slug": row.slug,
        "type": row.type,
        "options": row.options,
        "order": row.position,
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def represent_template(row: CustomFieldTemplate) -> Representation:
    """The template with the revision of its row."""
    return Representation(row.revision, serialize_template(row))


def list_templates(owner: User) -> list[JsonObject]:
    """The active templates in the account's order."""
    rows = CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id")
    return [serialize_template(row) for row in rows]


def serialize_date(row: ImportantDate) -> JsonObject:
    return {
        "id": str(row.pk),
        "personId": str(row.person_id),
        **{name: getattr(row, column) for name, column in _DATE_COLUMNS.items()},
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


def serialize_interactions(owner: User, rows: Iterable[Interaction]) -> list[JsonObject]:
    """The rows in their order. `people` has the active participants, `personIds` all of them."""
    listed = list(rows)
    people = _load_participants(owner, [row.pk for row in listed])
    return [_serialize_interaction(row, *people[row.pk]) for row in listed]


def serialize_interactions_by_id(owner: User, ids: Collection[UUID]) -> list[JsonObject]:
    """The active interactions among `ids`, in the order of the ids."""
    found = Interaction.objects.owned_by(owner).active().in_bulk(ids)
    return serialize_interactions(owner, [found[key] for key in ids if key in found])


def represent_interactions(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The interactions among `ids` that are active and have an active participant, by id."""
    rows = list(Interaction.objects.owned_by(owner).active().with_active_people().filter(pk__in=ids))
    return {
        row.pk: Representation(row.revision, body)
        for row, body in zip(rows, serialize_interactions(owner, rows), strict=True)
    }


def represent_interaction(owner: User, interaction_id: UUID) -> Representation:
    """One interaction, active or in the trash. Raises MissingError."""
    row = Interaction.objects.owned_by(owner).find(interaction_id)
    return Representation(row.revision, serialize_interactions(owner, [row])[0])


def participant_ids(owner: User) -> dict[UUID, list[str]]:
    """The ids of the participants of every interaction, by its id."""
    rows = Participation.objects.owned_by(owner).order_by("position", "person_id")
    found: dict[UUID, list[str]] = defaultdict(list)
    for interaction_id, person_id in rows.values_list("interaction_id", "person_id").iterator():
        found[interaction_id].append(str(person_id))
    return found


def _load_participants(owner: User, ids: list[UUID]) -> dict[UUID, tuple[list[str], list[dict[str, str]]]]:
    """By interaction, the ids of all its participants, and the ids and names of the active ones."""
    found: dict[UUID, tuple[list[str], list[dict[str, str]]]] = defaultdict(lambda: ([], []))
    rows = Participation.objects.owned_by(owner).filter(interaction__in=ids).order_by("position", "person_id")
    names = (f"person__{column}" for column in COLUMNS)
    participants = rows.values_list("interaction_id", IdHex("person_id"), "person__deleted_at", *names)
    for interaction_id, person_key, deleted_at, *parts in participants:
        person_ids, people = found[interaction_id]
        person_id = format_id(person_key)
        person_ids.append(person_id)
        if deleted_at is None:
            people.append({"id": person_id, "name": format_name(owner, parts)})
    return found


def _serialize_interaction(row: Interaction, person_ids: list[str], people: list[dict[str, str]]) -> JsonObject:
    return {
        "id": str(row.pk),
        "personIds": person_ids,
        "kind": row.kind,
        "at": format_timestamp(row.at),
        "title": row.title,
        "notes": row.notes,
        "people": people,
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }
