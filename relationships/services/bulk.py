"""Actions on many people: one transaction and a fixed number of statements, whatever their number."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from django.db import connection
from django.db.models import DateTimeField, Exists, F, OuterRef, Q, UUIDField, Value
from django.db.models.expressions import Combinable

from accounts.models import User
from contacts_project.kernel.database.expressions import FreshId
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from people.models import Group, Membership, RelationshipType
from people.models.person import PersonQuerySet
from people.services.bulk import active_people
from people.services.groups import write_rules_to
from people.services.people import delete_people
from people.signals import announce_change


def delete_people_in_bulk(
    *, owner: User, person_ids: Collection[UUID] | None, options: JsonMapping, now: dt.datetime
) -> int:
    """Move people (None: all) to the trash, and their orphans if `options` ask for it. Returns how many in total."""
    with account_write(owner):
        if person_ids is None:
            person_ids = list(active_people(owner, None).values_list("pk", flat=True))
        return delete_people(owner=owner, person_ids=person_ids, options=options, now=now)


def add_to_groups(
    *, owner: User, person_ids: Collection[UUID] | None, groups: Collection[Group], now: dt.datetime
) -> int:
    """Add people (None: all) to all `groups`. Returns how many were not in all of them before. Raises FieldError."""
    with account_write(owner):
        _check_groups(owner, groups)
        memberships = Membership.objects.owned_by(owner).filter(person=OuterRef("pk"))
        is_missing = {group.pk: ~Exists(memberships.filter(group=group.pk)) for group in groups}
        missing_in_any = Q()
        for condition in is_missing.values():
            missing_in_any |= Q(condition)
        changed = _update_people(owner, active_people(owner, person_ids).filter(missing_in_any), {}, now)
        joined: dict[UUID, list[UUID]] = {}
        for group in groups if changed else ():
            people = active_people(owner, changed).filter(is_missing[group.pk])
            if group.has_rule:
                joined[group.pk] = list(people.order_by("pk").values_list("pk", flat=True))
            _insert_memberships(group.pk, people, now)
        write_rules_to(owner, joined, now)
    return len(changed)


def set_relationship(
    *, owner: User, person_ids: Collection[UUID] | None, relationship_type: RelationshipType, now: dt.datetime
) -> int:
    """Make people (None: all) a `relationship_type` of the user. Returns how many changed. Raises FieldError."""
    with account_write(owner):
        if not RelationshipType.objects.owned_by(owner).active().filter(pk=relationship_type.pk).exists():
            raise FieldError("relationshipTypeId", NO_SUCH_RECORD)
        # NULL needs its own condition: in SQL, NULL is neither equal nor unequal to the type.
        differs = Q(relationship_to_user=None) | ~Q(relationship_to_user=relationship_type)
        rows = active_people(owner, person_ids).filter(differs)
        return len(_update_people(owner, rows, {"relationship_to_user": relationship_type}, now))


def _update_people(owner: User, rows: PersonQuerySet, values: JsonMapping, now: dt.datetime) -> list[UUID]:
    """Set `values` and `updated_at` of `rows`, and announce the change. Returns their ids."""
    # Read first: after the UPDATE the rows may no longer match the conditions of the queryset.
    changed = list(rows.values_list("pk", flat=True))
    if changed:
        active_people(owner, changed).update(**values, updated_at=now)
        announce_change(owner.pk, changed)
    return changed


def _check_groups(owner: User, groups: Collection[Group]) -> None:
    ids = [group.pk for group in groups]
    active = set(Group.objects.owned_by(owner).active().filter(pk__in=ids).values_list("pk", flat=True))
    for index, group_id in enumerate(ids):
        if group_id not in active:
            raise FieldError(f"groupIds.{index}", NO_SUCH_RECORD)


def _insert_memberships(group_id: UUID, people: PersonQuerySet, now: dt.datetime) -> None:
    # INSERT ... SELECT is one statement for any number of people; bulk_create takes one for each hundred.
    timestamp = Value(now, output_field=DateTimeField())
    columns: dict[str, Combinable] = {
        "id": FreshId(now),
        "owner_id": F("owner_id"),
        "person_id": F("pk"),
        "group_id": Value(group_id, output_field=UUIDField()),
        "created_at": timestamp,
        "updated_at": timestamp,
    }
    select, parameters = people.values_list(*columns.values()).query.sql_with_params()
    table, names = _quoted(Membership._meta.db_table), ", ".join(_quoted(name) for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) {select}", parameters)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
