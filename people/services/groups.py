"""Writes groups and their members. A group in the trash keeps its members until it is restored."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.texts import define_text
from people.extensions import EXTENSIONS
from people.models import Group, Membership, Person
from people.models.groups import group_key, pick_color
from people.services.group_rules import COLUMNS_TO_READ, RulesWritten, write_rules
from people.services.people import delete_people, touch_people
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan
from people.signals import announce_change

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
        for extension in EXTENSIONS:
            extension.after_group_delete(group.owner_id, [group.pk])


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
        remove_groups(group.owner_id, [Group.objects.owned_by(group.owner_id).find_deleted(group.pk).pk])


def remove_groups(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Permanently remove groups inside the account's write. Returns no files, because groups have none."""
    for extension in EXTENSIONS:
        extension.before_group_removal(owner_id, ids)
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


def memberships_of(group: Group) -> QuerySet[Membership]:
    """The group's memberships of active people."""
    return Membership.objects.owned_by(group.owner_id).filter(group=group, person__deleted_at=None)


def put_members(group: Group, person_ids: Iterable[UUID], now: dt.datetime) -> None:
    """Add those of these people who are active and no members yet, and write the group's rule to them."""
    keys = list(dict.fromkeys(person_ids))
    active = Person.objects.owned_by(group.owner_id).active().filter(pk__in=keys)
    present = memberships_of(group).filter(person__in=keys)
    new = {*active.values_list("pk", flat=True)} - {*present.values_list("person_id", flat=True)}
    join_group(group, [key for key in keys if key in new], now)


def join_group(
    group: Group, person_ids: Sequence[UUID], now: dt.datetime, *, loaded: Iterable[Person] = ()
) -> RulesWritten:
    """Add these active people, none of whom is a member, and write the group's rule to them.

    `loaded` are people of whom the caller has the rows, which then have the new values.
    """
    owner_id = group.owner_id
    Membership.objects.bulk_create(Membership(owner_id=owner_id, person_id=key, group=group) for key in person_ids)
    touch_people(owner_id, sorted(person_ids), now)
    if not group.has_rule:
        return RulesWritten()
    rows = list(loaded) or [*_load_for_rules(owner_id, person_ids).values()]
    return _write_rules(group.owner, [(person, group.pk) for person in rows], now)


def write_rules_to(
    owner: User, joined: Mapping[UUID, Collection[UUID]], now: dt.datetime, *, refuse_beyond_plan: bool = False
) -> int:
    """Write the rules of groups to active people who are members by now: their ids by the id of the group.

    Returns how many people have changed. Must be called inside `account_write`. With `refuse_beyond_plan` raises
    PlanLimitError before anything is written.
    """
    people = _load_for_rules(owner.pk, {key for ids in joined.values() for key in ids})
    pairs = [(people[key], group_id) for group_id, ids in joined.items() for key in ids if key in people]
    return len(_write_rules(owner, pairs, now, refuse_beyond_plan=refuse_beyond_plan).people)


def _load_for_rules(owner_id: UUID, person_ids: Collection[UUID]) -> dict[UUID, Person]:
    rows = Person.objects.owned_by(owner_id).active().only(*COLUMNS_TO_READ)
    return rows.in_bulk(person_ids) if person_ids else {}


def _write_rules(
    owner: User, joined: Collection[tuple[Person, UUID]], now: dt.datetime, *, refuse_beyond_plan: bool = False
) -> RulesWritten:
    with account_write(owner) as write:
        writer = PersonWriter(owner, write, now)
        written = write_rules(writer, joined, refuse_beyond_plan=refuse_beyond_plan)
        writer.flush()
    return written


def apply_rule(*, group: Group, now: dt.datetime) -> int:
    """Write the group's rule to all members, as if they joined now; returns how many people have changed.

    Raises PlanLimitError before anything is written, MissingError.
    """
    with account_write(group.owner_id):
        group = Group.objects.owned_by(group.owner_id).active().select_related("owner").find(group.pk)
        members = list(memberships_of(group).order_by("person_id").values_list("person_id", flat=True))
        return write_rules_to(group.owner, {group.pk: members}, now, refuse_beyond_plan=True)


def announce_members(group: Group) -> None:
    """Send people_changed for the members of a renamed group: its name is on their cards.

    API clients read the new name from the group, so `updated_at` of the members stays.
    """
    announce_change(group.owner_id, list(memberships_of(group).values_list("person_id", flat=True)))


def touch_members(group: Group, now: dt.datetime) -> None:
    """Mark the members as changed, after the group was deleted or restored."""
    touch_people(group.owner_id, list(memberships_of(group).values_list("person_id", flat=True)), now)
