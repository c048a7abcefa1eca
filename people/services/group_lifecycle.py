"""Creates, updates, deletes and restores groups."""

import datetime as dt
from collections.abc import Collection, Iterable
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.texts import define_text
from people.models import Group, Person
from people.models.groups import group_key, pick_color
from people.services.groups import announce_members, memberships_of, put_members, touch_members
from people.services.people import delete_people
from people.services.plan_limits import check_plan

_NAME_TAKEN = define_text("group_name_taken", "There is a group of this name already.")


def create_group(*, owner: User, data: JsonObject, people: Iterable[Person], now: dt.datetime) -> Group:
    """Insert a group with its first members. Raises PlanLimitError, FieldError (the name is taken), IdTakenError."""
    with account_write(owner):
        check_plan(owner, "groups")
        group = _save_group(Group(id=claimed_id(data), owner=owner, created_at=now), data)
        put_members(group, [person.pk for person in people], now)
    return group


def update_group(*, group: Group, data: JsonObject) -> Group:
    """Update the fields in `data`. Raises FieldError (the name is taken), MissingError."""
    with account_write(group.owner_id) as write:
        group = Group.objects.find_active(group.owner_id, group.pk)
        before = group.name
        _save_group(group, data)
        if write.is_mirrored and group.name != before:
            announce_members(group)
    return group


def delete_group(*, group: Group, with_people: bool, now: dt.datetime) -> None:
    """Move a group to the trash, and its members too if `with_people`. Raises MissingError."""
    with account_write(group.owner_id):
        group = Group.objects.find_active(group.owner_id, group.pk)
        touch_members(group, now)
        if with_people:
            members = memberships_of(group).values_list("person_id", flat=True)
            delete_people(owner=group.owner, person_ids=list(members), options={}, now=now)
        group.deleted_at = now
        group.save()


def restore_group(*, group: Group, now: dt.datetime) -> Group:
    """Take a group out of the trash. Raises NotDeletedError, PlanLimitError, FieldError (the name is taken)."""
    with account_write(group.owner_id):
        group = Group.objects.owned_by(group.owner_id).select_related("owner").find_deleted(group.pk)
        check_plan(group.owner, "groups")
        _check_name(group)
        group.deleted_at = None
        group.save()
        touch_members(group, now)
    return group


def remove_group(*, group: Group) -> None:
    """Permanently remove a deleted group; its people stay. Raises NotDeletedError, MissingError."""
    with account_write(group.owner_id):
        Group.objects.owned_by(group.owner_id).find_deleted(group.pk).delete()


def remove_groups(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Permanently remove groups, for the purge. Returns no files, because groups have none."""
    Group.objects.owned_by(owner_id).filter(pk__in=ids).delete()
    return []


def _save_group(group: Group, data: JsonObject) -> Group:
    for field in data.keys() & {"name", "description", "color", "contact_reminder", "lead_days"}:
        setattr(group, field, data[field])
    group.name_key = group_key(group.name)
    group.color = group.color or pick_color(group.name)
    _check_name(group)
    group.save()
    return group


def _check_name(group: Group) -> None:
    same = Group.objects.owned_by(group.owner_id).active().filter(name_key=group.name_key)
    if same.exclude(pk=group.pk).exists():
        raise FieldError("name", _NAME_TAKEN)
