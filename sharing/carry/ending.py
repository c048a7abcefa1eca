"""How a membership ends: the member leaves, is removed, has no group any more, or has no account.

What the members have in common ends under the share's lock (`end_member`); the account's own rows under that of its
account (`end_membership`). Of a member that the host has removed the worker ends them, since no request of one account
touches the rows of another; until then `current()` hides them.
"""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F

from contacts_project.kernel.ownership.account_lock import AccountGoneError, AccountWrite, account_write
from sharing.carry.neutral import lock_share, next_sequence, notify_members
from sharing.models import (
    CopyState,
    Hold,
    LogAction,
    LogEntry,
    Share,
    ShareConflict,
    SharedCopy,
    SharedPerson,
    ShareMember,
    ShareMembership,
    mark_shared,
)
from sharing.models.neutral import NeutralQuerySet

_BATCH_SIZE = 100


def leave(write: AccountWrite, membership: ShareMembership) -> None:
    """End the membership on both sides, inside the account's write."""
    share = lock_share(membership.share_id)
    member = ShareMember.unscoped.rows().get(pk=membership.member_id)
    if member.ended_at is None:
        end_member(share, member, LogAction.LEFT, write.now, by=member)
    _end_own_rows(write, share, membership)


def end_member(share: Share, member: ShareMember, action: LogAction, now: dt.datetime, *, by: ShareMember) -> None:
    """End what the others see of a member. After a host the longest member is host; the last one ends the share."""
    was_host = member.is_host
    member.ended_at, member.is_host, member.due_at = now, False, None
    member.save(update_fields=["ended_at", "is_host", "due_at"])
    Hold.unscoped.rows().filter(member=member, done_at=None).update(done_at=now)
    left = ShareMember.unscoped.rows().filter(share=share, ended_at=None).order_by("joined_at", "pk")
    heir = left.first()
    if heir is not None and was_host:
        left.filter(pk=heir.pk).update(is_host=True)
    share.updated_at, share.ended_at = now, None if heir else now
    share.save(update_fields=["updated_at", "ended_at"])
    next_sequence(share)
    entry = LogEntry(share=share, by=by, by_name=by.name, action=action)
    if by.pk != member.pk:
        entry.name_parts = {"name": member.name}
    LogEntry.objects.bulk_create([entry])
    notify_members(share, but=member.pk)


def _end_own_rows(write: AccountWrite, share: Share, membership: ShareMembership) -> None:
    """End the account's side: its people stay, nothing of them is shared any more."""
    copies = SharedCopy.objects.owned_by(write.owner_id).filter(membership=membership)
    held = list(copies.filter(state=CopyState.LINKED, shared__isnull=False).values_list("shared_id", flat=True))
    SharedPerson.unscoped.rows().filter(pk__in=held, holders__gt=0).update(holders=F("holders") - 1)
    _end_people(share, held, write.now)
    ShareConflict.objects.owned_by(write.owner_id).filter(membership=membership).delete()
    copies.delete()
    membership.deleted_at, membership.due_at = write.now, None
    membership.save(update_fields=["deleted_at", "due_at", "updated_at"])
    mark_shared(write.owner_id)


def _end_people(share: Share, ids: Collection[UUID], now: dt.datetime) -> None:
    """Those of these people whom nobody has any more are gone."""
    rows = SharedPerson.unscoped.rows().filter(share=share, is_gone=False, holders=0)
    gone = [row for row in rows.only("pk", "sequence", "is_gone") if row.pk in ids]
    if not gone:
        return
    last = next_sequence(share, now, count=len(gone))
    for number, row in enumerate(gone, last - len(gone) + 1):
        row.is_gone, row.sequence = True, number
    SharedPerson.unscoped.rows().bulk_update(gone, ["is_gone", "sequence"], batch_size=_BATCH_SIZE)
    notify_members(share)


def end_membership(owner_id: UUID, membership_id: UUID) -> None:
    """End the account's rows of a member that was removed. May run twice."""
    try:
        with account_write(owner_id) as write:
            rows = ShareMembership.objects.owned_by(owner_id).active().exclude(member__ended_at=None)
            membership = rows.filter(pk=membership_id).first()
            if membership is not None:
                _end_own_rows(write, lock_share(membership.share_id), membership)
    except AccountGoneError:
        pass  # then the share has lost a member without an account, too


def end_members_without_account(now: dt.datetime) -> int:
    """End the members whose accounts were deleted; returns how many there were."""
    members = list(_members_without_account().values_list("pk", "share_id"))
    for member_id, share_id in members:
        with transaction.atomic():
            share = lock_share(share_id)
            member = _members_without_account().filter(pk=member_id).first()
            if member is not None:
                end_member(share, member, LogAction.LEFT, now, by=member)
                _recount(share, now)
    return len(members)


def _members_without_account() -> NeutralQuerySet[ShareMember]:
    rows: NeutralQuerySet[ShareMember] = ShareMember.unscoped.rows().filter(ended_at=None, membership__isnull=True)
    return rows


def _recount(share: Share, now: dt.datetime) -> None:
    """Count again who has each person: the rows that said so went with the account."""
    linked = SharedCopy.unscoped.rows().filter(state=CopyState.LINKED, shared__share=share).order_by()
    counts = dict(linked.values_list("shared_id").annotate(number=Count("pk")))
    people = SharedPerson.unscoped.rows().filter(share=share, is_gone=False).only("pk", "holders")
    wrong = [row for row in people if row.holders != counts.get(row.pk, 0)]
    for row in wrong:
        row.holders = counts.get(row.pk, 0)
    SharedPerson.unscoped.rows().bulk_update(wrong, ["holders"], batch_size=_BATCH_SIZE)
    _end_people(share, {row.pk for row in wrong}, now)


def removed_memberships() -> list[tuple[UUID, UUID]]:
    """The memberships that the worker has to end: the account, and the membership."""
    rows = ShareMembership.unscoped.rows().active().exclude(member__ended_at=None)
    return list(rows.order_by("pk").values_list("owner_id", "pk"))


def has_members_to_end() -> bool:
    return bool(removed_memberships()) or _members_without_account().exists()
