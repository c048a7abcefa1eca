"""Adds people to groups and removes them. A group in the trash keeps its members until it is restored."""

import datetime as dt
from typing import Any
from uuid import UUID

from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Membership, Person
from people.services.people import touch_people
from people.signals import announce_change


def add_member(*, group: Group, person_id: UUID, now: dt.datetime) -> None:
    """Add a person to a group, unless it is a member already. Raises MissingError."""
    with account_write(group.owner_id):
        group = Group.objects.find_active(group.owner_id, group.pk)
        put_members(group, [person_id], now)


def remove_member(*, group: Group, person_id: UUID, now: dt.datetime) -> None:
    """Remove a person from a group. Raises MissingError if it is not a member."""
    with account_write(group.owner_id):
        group = Group.objects.find_active(group.owner_id, group.pk)
        removed, _ = memberships_of(group).filter(person_id=person_id).delete()
        if not removed:
            raise MissingError
        touch_people(group.owner_id, [person_id], now)


def memberships_of(group: Group) -> Any:
    """The group's memberships of active people."""
    return Membership.objects.owned_by(group.owner_id).filter(group=group, person__deleted_at=None)


def put_members(group: Group, person_ids: list[UUID], now: dt.datetime) -> None:
    """Add those of these people who are active and no members yet."""
    owner_id = group.owner_id
    active = Person.objects.active_ids.rows(owner_id=owner_id, row_ids=person_ids)
    present = _MEMBERS_AMONG.rows(owner_id=owner_id, group_id=group.pk, person_ids=person_ids)
    new = {UUID(key) for (key,) in {*active} - {*present}}
    Membership.objects.bulk_create(
        Membership(owner_id=owner_id, person_id=key, group=group) for key in person_ids if key in new
    )
    touch_people(owner_id, sorted(new), now)


_MEMBERS_AMONG = CompiledQuery(
    lambda owner_id, group_id, person_ids: (
        Membership.objects.owned_by(owner_id)
        .filter(group=group_id, person__in=person_ids, person__deleted_at=None)
        .values_list(IdHex("person_id"))
    )
)


def announce_members(group: Group) -> None:
    """Send people_changed for the members of a renamed group: its name is on their cards.

    API clients read the new name from the group, so `updated_at` of the members stays.
    """
    announce_change(group.owner_id, list(memberships_of(group).values_list("person_id", flat=True)))


def touch_members(group: Group, now: dt.datetime) -> None:
    """Mark the members as changed, after the group was deleted or restored."""
    touch_people(group.owner_id, list(memberships_of(group).values_list("person_id", flat=True)), now)
