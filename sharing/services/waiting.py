"""The waiting list of a share as one member sees it: shared people that want an answer or room, and what is held."""

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.json import JsonObject, format_timestamp
from people.models import Person
from people.names import format_name
from sharing.models import CopyState, Hold, HoldState, Reason, SharedCopy, ShareMembership
from sharing.projection import document_name

HELD = "held"
REASONS = (*(reason for reason in Reason.values if reason), HELD)


def list_waiting(
    owner: User, membership: ShareMembership, *, skipped: bool, after: UUID | None, limit: int
) -> tuple[list[JsonObject], UUID | None]:
    """A page, the oldest first, and the cursor of the next one (None on the last). `skipped`: those that the member
    has left out instead."""
    copies = SharedCopy.objects.owned_by(owner).filter(membership=membership)
    copies = copies.filter(state=CopyState.SKIPPED) if skipped else copies.waiting()
    holds = Hold.objects.reached_by(membership).filter(state=HoldState.OPEN, done_at=None).exclude(member=membership.pk)
    holds = holds.none() if skipped else holds
    if after is not None:
        copies, holds = copies.filter(pk__gt=after), holds.filter(pk__gt=after)
    found = list(copies.select_related("shared", "person", "by").order_by("pk")[: limit + 1])
    held = list(holds.select_related("member").order_by("pk")[: limit + 1])
    rows: list[SharedCopy | Hold] = sorted([*found, *held], key=lambda row: row.pk)
    page = rows[:limit]
    shown = _serialize_copies(owner, membership, [row for row in page if isinstance(row, SharedCopy)])
    entries = [_serialize_hold(row) if isinstance(row, Hold) else shown[row.pk] for row in page]
    return entries, page[-1].pk if len(rows) > limit else None


def _serialize_copies(
    owner: User, membership: ShareMembership, rows: Collection[SharedCopy]
) -> Mapping[UUID, JsonObject]:
    kept = _kept_people(owner, membership, rows)
    wanted = {UUID(entry["personId"]) for row in rows for entry in row.candidates} | set(kept.values())
    people = Person.objects.owned_by(owner).active().in_bulk(list(wanted)) if wanted else {}
    return {row.pk: _serialize_copy(owner, row, people, kept.get(row.pk)) for row in rows}


def _kept_people(owner: User, membership: ShareMembership, rows: Iterable[SharedCopy]) -> dict[UUID, UUID]:
    """For copies of people whom a member merged into another: who that is here, by the id of the copy."""
    merged = {
        row.pk: row.shared.merged_into_id
        for row in rows
        if row.reason == Reason.MERGED and row.shared and row.shared.merged_into_id
    }
    linked = SharedCopy.objects.owned_by(owner).filter(
        membership=membership, state=CopyState.LINKED, shared__in=set(merged.values()), person__isnull=False
    )
    here = dict(linked.values_list("shared_id", "person_id")) if merged else {}
    return {key: here[shared_id] for key, shared_id in merged.items() if shared_id in here}


def _serialize_copy(owner: User, row: SharedCopy, people: Mapping[UUID, Person], kept: UUID | None) -> JsonObject:
    candidates = [(UUID(entry["personId"]), float(entry["score"])) for entry in row.candidates]
    if kept is not None:
        candidates = [(kept, 1.0)]
    person = row.person
    body: JsonObject = {
        "sharedId": str(row.shown_id),
        "name": format_name(owner, person.name_parts) if row.shared is None and person else _name(owner, row),
        "photo": person.photo if person is not None and row.state == CopyState.LINKED else None,
        "reason": row.reason or None,
        "by": row.by.name if row.by else None,
        "at": format_timestamp(row.reason_at or row.created_at),
    }
    if person is not None and person.deleted_at is None:
        body["personId"] = str(person.pk)
    if shown := [(people[key], score) for key, score in candidates if key in people]:
        body["candidates"] = [
            {"personId": str(one.pk), "personName": one.display_name_for(owner), "score": score} for one, score in shown
        ]
    return body


def _name(owner: User, row: SharedCopy) -> str:
    return document_name(owner, row.shared.fields) if row.shared else ""


def _serialize_hold(row: Hold) -> JsonObject:
    """What a member sent. It has no name of a person: who they are is in no neutral row."""
    return {
        "sharedId": str(row.pk),
        "name": row.member.name,
        "photo": None,
        "reason": HELD,
        "by": row.member.name,
        "at": format_timestamp(row.created_at),
        "count": row.count,
    }
