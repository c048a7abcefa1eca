"""Shares as answers and the change feed show them to one member, read in a constant number of queries."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet

from accounts.models import User
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from people.models import Membership
from people.names import NameParts, format_name
from sharing.carry.neutral import NAME_PARTS
from sharing.models import (
    MAX_PEOPLE,
    Hold,
    HoldState,
    ShareConflict,
    SharedCopy,
    SharedPerson,
    ShareMember,
    ShareMembership,
    ShareState,
)
from sharing.models.own import MembershipQuerySet


def list_shares(owner: User) -> list[JsonObject]:
    """The account's shares, in the order in which it came to them."""
    rows = _current(owner).order_by("created_at", "pk")
    return [record.body for _, record in _represent(owner, list(rows))]


def represent_shares(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The shares with these ids that the account is in, by id."""
    rows = _current(owner).filter(share__in=ids)
    return {row.share_id: record for row, record in _represent(owner, list(rows))}


def represent_share(owner: User, share_id: UUID) -> Representation:
    """One share. Raises MissingError."""
    row = ShareMembership.objects.owned_by(owner).find_share(share_id)
    return next(iter(_represent(owner, [row])))[1]


def represent_conflicts(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The conflicts with these ids, by id."""
    rows = ShareConflict.objects.owned_by(owner).filter(pk__in=ids)
    return {row.pk: Representation(row.revision, serialize_conflict(owner, row)) for row in _with_details(rows)}


def list_conflicts(owner: User, membership: ShareMembership) -> list[JsonObject]:
    """What is in conflict in this share, the oldest first."""
    rows = ShareConflict.objects.owned_by(owner).filter(membership=membership).order_by("pk")
    return [serialize_conflict(owner, row) for row in _with_details(rows)]


def _with_details(rows: QuerySet[ShareConflict]) -> QuerySet[ShareConflict]:
    return rows.select_related("membership", "copy__shared", "by")


def serialize_conflict(owner: User, row: ShareConflict) -> JsonObject:
    document = row.copy.shared
    return {
        "id": str(row.pk),
        "shareId": str(row.membership.share_id),
        "personId": None if row.copy.person_id is None else str(row.copy.person_id),
        "personName": document_name(owner, document.fields) if document else "",
        "fields": row.fields,
        "by": row.by.name if row.by else None,
        "createdAt": format_timestamp(row.created_at),
    }


def document_name(owner: User, fields: Mapping[str, Any]) -> str:
    """The name of a shared person, from its document."""
    return shared_name(owner, {column: fields.get(name) for name, column in NAME_PARTS.items()})


def shared_name(owner: User, parts: Mapping[str, Any]) -> str:
    """A name from its shared parts by column, in the reader's order and format."""
    return format_name(owner, NameParts(**{"name": "", **parts}))


def _current(owner: User) -> MembershipQuerySet:
    return ShareMembership.objects.owned_by(owner).current().select_related("share")


def _represent(owner: User, rows: Sequence[ShareMembership]) -> Iterable[tuple[ShareMembership, Representation]]:
    members: dict[UUID, list[ShareMember]] = defaultdict(list)
    for member in ShareMember.objects.reached_by(*rows).filter(ended_at=None).order_by("joined_at", "pk"):
        members[member.share_id].append(member)
    people = SharedPerson.objects.reached_by(*rows).filter(is_gone=False).order_by().values_list("share_id")
    people_counts = dict(people.annotate(number=Count("pk")))
    copies = SharedCopy.objects.owned_by(owner).waiting().filter(membership__in=rows).order_by()
    waiting = Counter(dict(copies.values_list("membership_id").annotate(number=Count("pk"))))
    conflicts = ShareConflict.objects.owned_by(owner).filter(membership__in=rows).order_by()
    conflict_counts = dict(conflicts.values_list("membership_id").annotate(number=Count("pk")))
    own = {row.pk: row for row in rows}
    held = set()
    by_share = {row.share_id: row for row in rows}
    holds = Hold.objects.reached_by(*rows).filter(done_at=None)
    for share_id, member_id, state in holds.values_list("share_id", "member_id", "state"):
        if member_id in own:
            held.add(member_id)
        elif state == HoldState.OPEN:  # a row of its own in the waiting list of each other member
            waiting[by_share[share_id].pk] += 1
    coming = _count_coming(owner, [row for row in rows if row.pk not in held])
    for row in rows:
        people_count = people_counts.get(row.share_id, 0) + coming.get(row.pk, 0)
        body = {
            "id": str(row.share_id),
            "name": row.share.name,
            "groupId": None if row.group_id is None else str(row.group_id),
            "private": row.private,
            "reminders": row.reminders,
            "newcomers": row.newcomers,
            "state": _state(row, is_held=row.pk in held),
            "members": [_serialize_member(member, row) for member in members[row.share_id]],
            "peopleCount": min(people_count, MAX_PEOPLE),
            "waitingCount": waiting[row.pk],
            "conflictCount": conflict_counts.get(row.pk, 0),
            "lastChangeAt": format_timestamp(row.share.changed_at),
            "createdAt": format_timestamp(row.share.created_at),
            "updatedAt": format_timestamp(max(row.updated_at, row.share.updated_at)),
        }
        yield row, Representation(row.revision, body)


def _count_coming(owner: User, rows: Iterable[ShareMembership]) -> dict[UUID, int]:
    """How many people of the tied groups the worker has yet to bring into the shares, by membership: those of a share
    that has just been made, all."""
    due = {row.group_id: row.pk for row in rows if row.reviewed_at and not row.paused and _is_group_due(row)}
    due.pop(None, None)
    if not due:
        return {}
    copies = SharedCopy.objects.owned_by(owner).filter(membership__in=due.values(), person=OuterRef("person"))
    members = Membership.objects.owned_by(owner).filter(group__in=due, person__deleted_at=None)
    members = members.filter(~Exists(copies.filter(membership__group=OuterRef("group")))).order_by()
    counts = members.values_list("group_id").annotate(number=Count("pk"))
    return {due[group_id]: number for group_id, number in counts}


def _is_group_due(row: ShareMembership) -> bool:
    return row.is_group_due or row.sent_revision == 0


def _state(row: ShareMembership, *, is_held: bool) -> ShareState:
    """A pause does not lift what is held."""
    if is_held:
        return ShareState.HELD
    return ShareState.PAUSED if row.paused else ShareState.ACTIVE


def _serialize_member(member: ShareMember, row: ShareMembership) -> JsonObject:
    return {
        "id": str(member.pk),
        "name": member.name,
        "you": member.pk == row.pk,
        "host": member.is_host,
        "joinedAt": format_timestamp(member.joined_at),
    }
