"""The JSON of groups: two queries for any number of them."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.json import Representation, format_timestamp
from contacts_project.kernel.errors import MissingError
from people.counts import MEMBERS, counts_by_id
from people.models import Group, Membership
from people.names import COLUMNS, fold, format_name


def serialize_groups(rows: Any) -> list[dict[str, Any]]:
    """The groups of a queryset, in its order. `memberCount` excludes people in the trash."""
    groups = list(rows)
    members = counts_by_id(groups[0].owner_id, MEMBERS) if groups else {}
    return [_serialize_group(group, members.get(group.pk, 0)) for group in groups]


def list_groups(owner: User) -> list[dict[str, Any]]:
    """The active groups, sorted by name without case and accents."""
    groups = serialize_groups(Group.objects.owned_by(owner).active())
    return sorted(groups, key=lambda group: (fold(group["name"]), group["id"]))


def represent_group(owner: User, group_id: UUID) -> Representation:
    """One group, active or in the trash, with its people in name order. Raises MissingError."""
    for record in _with_people(owner, Group.objects.owned_by(owner).filter(pk=group_id)).values():
        return record
    raise MissingError


def represent_groups(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active groups among `ids`, with their people, by id."""
    return _with_people(owner, Group.objects.owned_by(owner).active().filter(pk__in=ids))


def _with_people(owner: User, rows: Any) -> dict[UUID, Representation]:
    groups = list(rows)
    records = {UUID(record["id"]): {**record, "people": []} for record in serialize_groups(groups)}
    memberships = Membership.objects.owned_by(owner).filter(group_id__in=records, person__deleted_at=None)
    memberships = memberships.order_by("person__sort_key", "person_id")
    names = (f"person__{column}" for column in COLUMNS)
    for group_id, person, *parts in memberships.values_list("group_id", "person_id", *names):
        records[group_id]["people"].append({"id": str(person), "name": format_name(owner, parts)})
    return {group.pk: Representation(group.revision, records[group.pk]) for group in groups}


def deleted_groups(owner: User, rows: Any) -> list[dict[str, Any]]:
    return serialize_groups(rows)


def _serialize_group(group: Any, members: int) -> dict[str, Any]:
    return {
        "id": str(group.pk),
        "name": group.name,
        "description": group.description,
        "color": group.color,
        "memberCount": members,
        "deletedAt": format_timestamp(group.deleted_at),
        "createdAt": format_timestamp(group.created_at),
        "updatedAt": format_timestamp(group.updated_at),
    }
