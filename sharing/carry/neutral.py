"""Writes of the rows that all members of a share have in common, under the lock of the share's row."""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.contents.fields import SCALARS, Fields
from people.names import COLUMNS
from sharing.decisions import RELATIONS
from sharing.models import LogAction, LogEntry, Share, SharedPerson, SharedRelation, ShareMember, ShareMembership
from sharing.signals import announce_share

NAME_PARTS = {name: field.column for name, field in SCALARS.items() if field.column in COLUMNS}
"""The parts of a name that is shown: the column of each field."""


def lock_share(share_id: UUID) -> Share:
    """Lock the share's row until the transaction ends. Raises MissingError.

    The account's lock must be held already: the order of locks is account, share, rows.
    """
    share: Share | None = Share.unscoped.rows().select_for_update().filter(pk=share_id).first()
    if share is None:
        raise MissingError
    return share


def next_sequence(share: Share, now: dt.datetime | None = None, *, count: int = 1) -> int:
    """The number of the next change of the share, which is saved; of several, the last one's. `now`: the change is one
    of a person."""
    changes: dict[str, Any] = {"sequence": F("sequence") + count, **({"changed_at": now} if now else {})}
    rows = Share.unscoped.rows().filter(pk=share.pk)
    rows.update(**changes)
    # Read again: the caller's instance may be older than a change of the same transaction.
    share.sequence = rows.values_list("sequence", flat=True).get()
    if now:
        share.changed_at = now
    return share.sequence


def touch_membership(write: AccountWrite, membership: ShareMembership) -> None:
    """Give the membership the revision of the write: what its `share` answers has changed."""
    ShareMembership.objects.owned_by(write.owner_id).filter(pk=membership.pk).update(updated_at=write.now)


def notify_members(share: Share, but: UUID | None = None) -> None:
    """Let the changes of the share be carried to its members, except `but`, soon after the commit."""
    rows = ShareMember.unscoped.rows().filter(share=share, ended_at=None).exclude(pk=but)
    if rows.update(due_at=timezone.now()):
        announce_share(share.pk)


def name_parts_of(fields: Fields) -> dict[str, Any]:
    """The shared parts of a document's name by column, without empty ones."""
    return {column: fields[name] for name, column in NAME_PARTS.items() if fields.get(name)}


def write_log(
    share: Share,
    member: ShareMember | None,
    action: LogAction,
    document: SharedPerson | None = None,
    fields: Collection[str] = (),
    before: Fields | None = None,
    after: Fields | None = None,
    *,
    is_removal: bool = False,
) -> LogEntry:
    """Add an entry to the share's log. `before` and `after` are the values of `fields`, for an undo. `is_removal`: it
    counts when it is judged what to hold."""
    entry = LogEntry(
        share=share,
        by=member,
        by_name=member.name if member else "",
        action=action,
        person=document,
        name_parts=name_parts_of(document.fields) if document else {},
        fields=list(fields),
        before=None if before is None else {name: before.get(name) for name in fields},
        after=None if after is None else {name: after.get(name) for name in fields},
        is_removal=is_removal,
    )
    return LogEntry.objects.bulk_create([entry])[0]


def log_added(share: Share, member: ShareMember, documents: Iterable[SharedPerson]) -> None:
    """An entry for each of these new documents, in one statement."""
    LogEntry.objects.bulk_create(
        [
            LogEntry(
                share=share,
                by=member,
                by_name=member.name,
                action=LogAction.ADDED,
                person=document,
                name_parts=name_parts_of(document.fields),
            )
            for document in documents
        ]
    )


def log_out(share: Share, member: ShareMember, document: SharedPerson, *, is_removal: bool) -> None:
    """An entry that the member has taken the person out, or merged it. It keeps what the document says of that, for
    when somebody who takes it out later takes that back."""
    merged_into = str(document.merged_into_id) if document.merged_into_id else None
    LogEntry.objects.bulk_create(
        [
            LogEntry(
                share=share,
                by=member,
                by_name=member.name,
                action=LogAction.MERGED if merged_into else LogAction.TAKEN_OUT,
                person=document,
                name_parts=name_parts_of(document.fields),
                after={"outSequence": document.out_sequence, "mergedInto": merged_into},
                is_removal=is_removal,
            )
        ]
    )


def find_last_outs(documents: Iterable[SharedPerson], *, but: ShareMember) -> dict[UUID, LogEntry]:
    """The last entries of taking each of these people out, of other members who have not brought them back, as far as
    the log goes back."""
    actions = [LogAction.TAKEN_OUT, LogAction.MERGED, LogAction.ADDED]
    rows = LogEntry.unscoped.rows().filter(person__in=list(documents), action__in=actions, by__isnull=False)
    last = {(row.person_id, row.by_id): row for row in rows.exclude(by=but).defer("before").order_by("pk")}
    outs = sorted((row for row in last.values() if row.action != LogAction.ADDED), key=lambda row: row.pk)
    return {row.person_id: row for row in outs if row.person_id}


def save_relations(documents: Iterable[SharedPerson]) -> None:
    """Write the index of the documents' relationships anew."""
    rows = list(documents)
    wanted = {(row.pk, UUID(entry["person"])) for row in rows for entry in row.fields.get(RELATIONS, ())}
    stored = SharedRelation.unscoped.rows().filter(person__in=rows)
    known = {(person, other): key for key, person, other in stored.values_list("pk", "person_id", "other_id")}
    if gone := [key for pair, key in known.items() if pair not in wanted]:
        SharedRelation.unscoped.rows().filter(pk__in=gone).delete()
    SharedRelation.objects.bulk_create(
        [SharedRelation(person_id=person, other_id=other) for person, other in sorted(wanted - known.keys())]
    )
