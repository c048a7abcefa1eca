"""Carries one account: its writes into its shares, and the changes of its shares into it, until both are quiet.

Each batch is one transaction under the account's lock and then the share's. What it takes on is a row with a state, so
that a kill between any two steps leaves a whole batch or none: copies and groups that are due, changes above
`received`, writes above `sent_revision`. `due_at` of a membership and of its member is cleared in the batch that finds
nothing more.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import (
    AccountGoneError,
    AccountWrite,
    account_lock,
    account_write,
)
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.services.plan_limits import remaining_in_plan
from sharing.carry.batch import Batch
from sharing.carry.contact import sync_copies
from sharing.carry.copies import create_people
from sharing.carry.holds import carry_hold, due_additions, find_counted, held_revisions, is_held, mark_answer
from sharing.carry.incoming import take_in
from sharing.carry.neutral import lock_share, next_sequence, notify_members
from sharing.carry.origins import open_revision
from sharing.carry.outgoing import has_room, mark_changes, send_new, settle_due
from sharing.carry.pictures import Pictures
from sharing.models import CopyState, Reason, SharedCopy, ShareMember, ShareMembership, account_name

BATCH_SIZE = 25
"""People of one transaction."""
MAX_BATCHES = 20
"""Of one run: then others get their turn."""

#: Set while the carrier writes: nobody has to be told that its own write waits to be carried.
IS_CARRY_WRITE: ContextVar[bool] = ContextVar("is_carry_write", default=False)


def mark_due(write: AccountWrite) -> bool:
    """Let the account's write be carried: called at its beginning, inside its transaction. Returns whether somebody has
    to be told."""
    rows = ShareMembership.objects.owned_by(write.owner_id).active().filter(due_at=None)
    rows.update(due_at=write.now)
    return not IS_CARRY_WRITE.get()


def carry_account(owner_id: UUID, now: dt.datetime | None = None, *, max_batches: int = MAX_BATCHES) -> bool:
    """Carry all that waits for the account; returns whether there is more after `max_batches`.

    May run twice at the same time, and be killed at any point.
    """
    left = max_batches
    pictures: dict[UUID, Pictures] = {}
    with _own_writes():
        while left > 0:
            memberships = _due_memberships(owner_id)
            if not memberships:
                return False
            is_done = True
            for membership_id, share_id in memberships:
                prepared = pictures.setdefault(membership_id, Pictures())
                while left > 0:
                    left -= 1
                    outcome = _carry_batch(owner_id, membership_id, prepared, now or timezone.now())
                    if prepared.is_wanted:
                        prepared.prepare(owner_id, share_id)
                    elif not outcome:
                        break
                    is_done = False
            if is_done:
                return False  # what is still due waits for somebody else: an answer, the storage
    return True


@contextmanager
def _own_writes() -> Iterator[None]:
    token = IS_CARRY_WRITE.set(True)
    try:
        yield
    finally:
        IS_CARRY_WRITE.reset(token)


def _due_memberships(owner_id: UUID) -> list[tuple[UUID, UUID]]:
    """The memberships whose own writes, or changes of whose share, wait; with the share."""
    rows = ShareMembership.objects.owned_by(owner_id).active().filter(paused=False)
    found = rows.values_list("pk", "share_id", "due_at", "member__due_at").order_by("pk")
    return [(key, share_id) for key, share_id, own, others in found if own or others]


def _carry_batch(owner_id: UUID, membership_id: UUID, pictures: Pictures, now: dt.datetime) -> bool:
    """Carry one batch; returns whether there may be more."""
    try:
        with account_lock(owner_id), ExitStack() as stack:
            batch = _load_batch(owner_id, membership_id, pictures, now, stack)
            return batch is not None and _run(batch)
    except AccountGoneError:
        return False


def _load_batch(
    owner_id: UUID, membership_id: UUID, pictures: Pictures, now: dt.datetime, stack: ExitStack
) -> Batch | None:
    """The batch of a membership that may be carried; None if it may not, or not now."""
    owner = User.objects.get(pk=owner_id)
    rows = ShareMembership.objects.owned_by(owner_id).active().filter(paused=False)
    membership = rows.select_related("group", "member").filter(pk=membership_id).first()
    if membership is None or not owner.is_active:
        return None
    share = lock_share(membership.share_id)
    # Read again under the share's lock: `due_at` and `ended_at` are written by others.
    member = ShareMember.unscoped.rows().get(pk=membership.member_id)
    if share.ended_at or member.ended_at:
        return None
    opened: list[AccountWrite] = []

    def open_write() -> AccountWrite:
        if not opened:
            opened.append(stack.enter_context(account_write(owner_id)))
            if rows.exclude(pk=membership_id).exists():
                # What comes from one share was judged there: it does not count as a write of this account in others.
                mark_answer(opened[0])
        return opened[0]

    batch = Batch(owner, membership, share, member, now, open_write, pictures)
    if membership.group is None or membership.group.is_deleted:
        _pause(batch)
        return None
    return batch


def _pause(batch: Batch) -> None:
    """The tied group is in the trash: nothing is carried until the member goes on."""
    batch.write()
    membership = batch.membership
    membership.paused = True
    membership.save(update_fields=["paused", "updated_at"])


def _run(batch: Batch) -> bool:
    membership = batch.membership
    first = open_revision(batch.owner.pk, batch.now)
    batch.settled_revision = None if first is None else first - 1
    revision = batch.owner.revision if first is None else first - 1
    _rename_member(batch)
    is_current = membership.received == batch.share.sequence
    more = carry_hold(batch, BATCH_SIZE)
    if more:
        batch.finish()
        return _end(batch, more=True)
    has_marked = membership.sent_revision < revision
    if has_marked:
        mark_changes(batch, revision)
    is_waiting = is_held(batch, has_marked=has_marked)
    due = due_additions(batch, _due(batch))[:BATCH_SIZE] if is_waiting else _due_copies(batch)
    batch.counted = find_counted(batch, due)
    copies = {copy.pk: copy for copy in settle_due(batch, due)}
    more = len(due) == BATCH_SIZE
    if not is_current and not more:
        incoming = _without_late(batch, take_in(batch, BATCH_SIZE))
        # Of a member who is held, people whose own changes wait stay as they are.
        copies |= {copy.pk: copy for copy in incoming if copy.pk not in copies and not (is_waiting and copy.is_due)}
        is_current = membership.received == batch.share.sequence
        more = not is_current
    sync_copies(batch, list(copies.values()))
    if not more:
        more = _fill_room(batch)
    if membership.is_group_due and membership.reviewed_at and not more:
        more = send_new(batch, BATCH_SIZE, held_revisions(batch) if is_waiting else ())
    batch.finish()
    if is_current:
        membership.received = batch.share.sequence  # what came since are this member's own changes
    return _end(batch, more=more, is_held=is_waiting)


def _due_copies(batch: Batch) -> list[SharedCopy]:
    return list(_due(batch).select_related("person").order_by("pk")[:BATCH_SIZE])


def _due(batch: Batch) -> OwnedQuerySet[SharedCopy]:
    """The copies that are due, but for those that wait for the storage, or for the end of a larger work."""
    rows = batch.copies().filter(is_due=True).exclude(pk__in=batch.pictures.left_due)
    late = batch.late_people()
    return rows if late is None else rows.exclude(late)


def _without_late(batch: Batch, copies: list[SharedCopy]) -> list[SharedCopy]:
    """The copies that may be merged now; those whose person a larger work has changed stay due."""
    condition = batch.late_people()
    if condition is None:
        return copies
    rows = batch.linked().filter(condition, pk__in=[copy.pk for copy in copies])
    late = set(rows.values_list("pk", flat=True))
    batch.copies().filter(pk__in=late).update(is_due=True)
    return [copy for copy in copies if copy.pk not in late]


def _fill_room(batch: Batch) -> bool:
    """Take in who waits for room in the plan, and let go out who waits for room in the share; whether there is more."""
    # By what is null as well, which an index finds: a prepared statement knows of no reason how rare it is.
    waiting = batch.copies().filter(state=CopyState.WAITING)
    more = False
    rows = waiting.filter(person__isnull=True, reason=Reason.PLAN_LIMIT).select_related("shared")
    for_plan = list(rows.order_by("pk")[:BATCH_SIZE])
    if for_plan:
        room = remaining_in_plan(batch.owner, "people")
        some = for_plan if room is None else for_plan[: max(0, room)]
        if some:
            create_people(batch, some)
            more = True
    for_share = waiting.filter(shared__isnull=True, reason=Reason.SHARE_LIMIT, is_due=False)
    if for_share.exists() and has_room(batch):
        keys = list(for_share.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE])
        batch.copies().filter(pk__in=keys).update(is_due=True)
        more = True
    return more


def _rename_member(batch: Batch) -> None:
    """Show the others the account's display name as it is now."""
    if batch.member.name != (name := account_name(batch.owner)):
        batch.member.name = name
        batch.member.save(update_fields=["name"])
        next_sequence(batch.share)
        batch.is_visible = True
        notify_members(batch.share, but=batch.member.pk)


def _end(batch: Batch, *, more: bool, is_held: bool = False) -> bool:
    """Store how far the batch has come; returns whether there is more."""
    membership = batch.membership
    revision = batch.open_write().revision if batch.has_written else batch.owner.revision
    if membership.sent_revision == batch.owner.revision:
        # The batch's own write has nothing to be sent.
        membership.sent_revision = revision
    more = more or membership.received < batch.share.sequence
    more = more or bool(due_additions(batch, _due(batch)) if is_held else _due(batch).exists())
    values = {"sent_revision", "received", "is_group_due"}
    if not more and not batch.pictures.left_due and batch.settled_revision is None:
        membership.due_at = None
        values |= {"due_at"}
        ShareMember.unscoped.rows().filter(pk=batch.member.pk).update(due_at=None)
    ShareMembership.objects.owned_by(batch.owner).filter(pk=membership.pk).update(
        **{name: getattr(membership, name) for name in values}
    )
    return more
