"""The JSON of groups: two queries for any number of them."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.ids import IdHex
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from contacts_project.kernel.text_forms import fold
from people.counts import MEMBERS, counts_by_id
from people.models import Group, Membership
from people.names import COLUMNS, format_name


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


def deleted_groups(owner: User, rows: Iterable[Group]) -> list[JsonObject]:
    return serialize_groups(rows)


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
