"""One action over many people, in one transaction and a handful of statements however many they are."""

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import DateTimeField, Exists, F, OuterRef, Q, UUIDField, Value
from django.db.models.expressions import Combinable

from accounts.models import User
from contacts_project.kernel.api.ids import FreshId
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Membership, Person, RelationshipType
from people.models.person import PersonQuerySet
from people.services.people import delete_people
from people.signals import announce_change


def delete_many(
    *, owner: User, person_ids: Collection[UUID] | None, options: Mapping[str, Any], now: dt.datetime
) -> int:
    """Move people (None: all) to the trash, orphans with them as `options` say; returns how many, orphans included."""
    with account_write(owner):
        if person_ids is None:
            person_ids = list(_chosen(owner, None).values_list("pk", flat=True))
        return delete_people(owner=owner, person_ids=person_ids, options=options, now=now)


def add_to_groups(
    *, owner: User, person_ids: Collection[UUID] | None, groups: Collection[Group], now: dt.datetime
) -> int:
    """Make people (None: all) members of all `groups`; returns how many were not yet. Raises FieldError."""
    with account_write(owner):
        _check_groups(owner, groups)
        missing = {group.pk: ~Exists(_members(owner, group.pk)) for group in groups}
        not_in_all = Q()
        for is_missing in missing.values():
            not_in_all |= Q(is_missing)
        changed = _touch(owner, _chosen(owner, person_ids).filter(not_in_all), {}, now)
        for group_id, is_missing in missing.items() if changed else ():
            _insert_members(group_id, _chosen(owner, changed).filter(is_missing), now)
    return len(changed)


def set_relationship(
    *, owner: User, person_ids: Collection[UUID] | None, relationship_type: RelationshipType, now: dt.datetime
) -> int:
    """Make people (None: all) `relationship_type` of the user; returns how many were not yet. Raises FieldError."""
    with account_write(owner):
        if not RelationshipType.objects.owned_by(owner).active().filter(pk=relationship_type.pk).exists():
            raise FieldError("relationshipTypeId", UNKNOWN_ID)
        others = Q(relationship_to_user=None) | ~Q(relationship_to_user=relationship_type)
        rows = _chosen(owner, person_ids).filter(others)
        return len(_touch(owner, rows, {"relationship_to_user": relationship_type}, now))


def _chosen(owner: User, person_ids: Collection[UUID] | None) -> PersonQuerySet:
    people = Person.objects.owned_by(owner).active()
    return people if person_ids is None else people.filter(pk__in=person_ids)


def _touch(owner: User, rows: PersonQuerySet, values: Mapping[str, Any], now: dt.datetime) -> list[UUID]:
    """Write `values` into `rows` as a change of their content; returns their ids."""
    changed = list(rows.values_list("pk", flat=True))
    if changed:
        _chosen(owner, changed).update(**values, updated_at=now)
        announce_change(owner.pk, changed)
    return changed


def _check_groups(owner: User, groups: Collection[Group]) -> None:
    ids = [group.pk for group in groups]
    there = set(Group.objects.owned_by(owner).active().filter(pk__in=ids).values_list("pk", flat=True))
    for index, group_id in enumerate(ids):
        if group_id not in there:
            raise FieldError(f"groupIds.{index}", UNKNOWN_ID)


def _members(owner: User, group_id: UUID) -> Any:
    return Membership.objects.owned_by(owner).filter(person=OuterRef("pk"), group=group_id)


def _insert_members(group_id: UUID, people: PersonQuerySet, now: dt.datetime) -> None:
    """INSERT ... SELECT: one statement for all of `people`, where an insert by rows takes one for each hundred."""
    moment = Value(now, output_field=DateTimeField())
    columns: dict[str, Combinable] = {
        "id": FreshId(now),
        "owner_id": F("owner_id"),
        "person_id": F("pk"),
        "group_id": Value(group_id, output_field=UUIDField()),
        "created_at": moment,
        "updated_at": moment,
    }
    select, parameters = people.values_list(*columns.values()).query.sql_with_params()
    table, names = _quoted(Membership._meta.db_table), ", ".join(_quoted(name) for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) {select}", parameters)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
