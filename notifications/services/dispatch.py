"""What the scheduler, workers, commands and operators run: scan what is due, enqueue deliveries, send them."""

import datetime as dt
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from operator import itemgetter
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.outbound.exchanges import EXCHANGES, CallLimitError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from contacts_project.kernel.texts import define_text
from notifications.channels import has_own_server
from notifications.ledger import StateCounts, targets_of
from notifications.models import Delivery, DeliveryState
from notifications.models.deliveries import DeliveryQuerySet
from notifications.notices.notice import NoticeKind
from notifications.services.answers import reschedule_snoozed
from notifications.services.backfill import backfill_digests, backfill_reminders, is_backfill
from notifications.services.backlog import BACKLOG
from notifications.services.digests import scan_digests, schedule_digest
from notifications.services.due_scan import enqueue_due_accounts, scan_due
from notifications.services.sender import SendResult, send_batch, send_delivery
from people.dates import schedule
from people.dates.recurrence import end_of_day
from people.services.last_contact import apply_due_interactions
from people.services.reminders import reschedule_account

log = logging.getLogger(__name__)
Enqueue = Callable[..., object]
"""Puts a task with these ids, as text, into the queue."""
DueDelivery = tuple[UUID, UUID, str]
"""A delivery that is due: its id, its owner's, and its channel."""

_QUERY_LIMIT = 5000
_MAX_BACKLOG_SECONDS = 10
# Strict mail servers take about this many messages over one connection.
BATCH_SIZE = 20


def scan(*, now: dt.datetime, enqueue_accounts: Enqueue | None = None) -> int:
    """The due scan: write the deliveries of all that is due; returns how many were written here.

    With `enqueue_accounts`, the reminders of many due accounts are left to tasks instead (`scan_accounts_batch`).
    """
    reschedule_stale(now=now)
    # Before the scan: an interaction dated today becomes the last contact and moves the reminder that is due today.
    apply_due_interactions(now=now)
    is_enqueued = enqueue_accounts is not None and enqueue_due_accounts(now=now, enqueue=enqueue_accounts)
    written = StateCounts() if is_enqueued else scan_due(now=now)
    return (written + scan_digests(now=now)).total()


def scan_accounts_batch(*, owner_ids: Sequence[UUID], now: dt.datetime, enqueue: Enqueue) -> None:
    """Write what is due of some accounts, and enqueue their deliveries.

    If the process dies in between, the deliveries are due and in no queue: the next scan enqueues them.
    """
    if scan_due(now=now, owner_ids=owner_ids):
        _enqueue_in_batches(list(_due_unqueued(timezone.now()).filter(owner_id__in=owner_ids)), enqueue)


def scan_reminders(*, now: dt.datetime) -> StateCounts:
    """Write the reminders due at `now`, which may be in the past or future."""
    if is_backfill(now):
        return backfill_reminders(now)
    apply_due_interactions(now=now)
    return scan_due(now=now)


def scan_all_digests(*, now: dt.datetime) -> StateCounts:
    """Write the digests due at `now`, which may be in the past or future."""
    return backfill_digests(now) if is_backfill(now) else scan_digests(now=now)


def reschedule_stale(*, now: dt.datetime) -> int:
    """Reschedule every account whose time zone or reminder settings changed since its due times were computed."""
    # Found by the mark on the row: the task enqueued with the change may have been lost with its queue.
    stale = list(User.objects.filter(reminders_stale=True).values_list("pk", flat=True))
    for owner_id in stale:
        try:
            reschedule(owner_id=owner_id, now=now)
        except Exception:
            log.exception("an account could not be replanned", extra={"owner": str(owner_id)})
    return len(stale)


def reschedule(*, owner_id: UUID, now: dt.datetime) -> None:
    """Recompute all due times of an account (dates, contacts, snoozed reminders, digest) in one transaction."""
    try:
        with account_lock(owner_id):
            # Clears the mark too: if the process dies before the commit, the next scan starts over.
            reschedule_account(owner_id=owner_id, now=now)
            reschedule_snoozed(owner_id=owner_id, now=now)
            schedule_digest(User.objects.get(pk=owner_id), now=now)
    except AccountGoneError:
        return


def enqueue_due(enqueue: Enqueue) -> int:
    """Enqueue all deliveries that are due and in no queue, in batches; returns how many."""
    clock = timezone.now()
    # An abandoned delivery goes alone: if it kills every worker that sends it, it takes no others down with it.
    enqueued = sum(enqueue_batch([delivery_id], enqueue) for delivery_id in _abandoned_ids(clock))
    while due := list(_due_unqueued(clock)[:_QUERY_LIMIT]):
        enqueued += _enqueue_in_batches(due, enqueue)
    return enqueued


def _enqueue_in_batches(due: Sequence[DueDelivery], enqueue: Enqueue) -> int:
    return sum(enqueue_batch(batch, enqueue) for batch in make_batches(due))


def make_batches(due: Sequence[DueDelivery]) -> list[list[UUID]]:
    """The ids in batches. Accounts take turns: the first delivery of each comes before the second of any.

    A batch is sent over one thread, so only accounts whose last delivery was quick share one. Each other account has
    batches of its own, those of slow ones last. Mails go to the operator's mail server, and come first.
    """
    number_of_owner: Counter[UUID] = Counter()
    ranked = []
    for row in due:
        ranked.append((number_of_owner[row[1]], row))
        number_of_owner[row[1]] += 1
    lanes: dict[tuple[int, UUID | None], list[UUID]] = defaultdict(list)
    for _, (delivery_id, owner_id, channel) in sorted(ranked, key=itemgetter(0)):  # stable: the longest due first
        if has_own_server(channel):
            lanes[0, None].append(delivery_id)
        elif EXCHANGES.is_fast(owner_id):
            lanes[1, None].append(delivery_id)
        else:
            lanes[3 if EXCHANGES.is_slow(owner_id) else 2, owner_id].append(delivery_id)
    in_order = [lanes[lane] for lane in sorted(lanes, key=itemgetter(0))]
    return [ids[start : start + BATCH_SIZE] for ids in in_order for start in range(0, len(ids), BATCH_SIZE)]


def enqueue_batch(delivery_ids: Sequence[UUID], enqueue: Enqueue) -> int:
    """Enqueue these deliveries as one task, unless all of them are in a queue already; returns how many were not.

    The rows are marked first. If the process dies before the task is in the queue, or the queue loses it, the mark
    expires after two leases and the scan enqueues them again.
    """
    clock = timezone.now()
    until = clock + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS)
    rows = Delivery.unscoped.rows().filter(pk__in=delivery_ids)
    # A conditional UPDATE: of two scans at the same moment, one marks the rows. Abandoned ones keep their claim, which
    # is what shows that their worker died; they may be enqueued twice, but are claimed once.
    enqueued: int = rows.due(clock).unqueued(clock).update(held_until=until) or rows.abandoned(clock).count()
    if enqueued:
        enqueue(*map(str, delivery_ids))
    return enqueued


def _due_unqueued(clock: dt.datetime) -> QuerySet[Delivery, DueDelivery]:
    """The worker's deliveries that are due and in no queue, the longest due first."""
    rows: DeliveryQuerySet = Delivery.unscoped.rows().not_backfilled().due(clock).unqueued(clock)
    return rows.order_by("next_try_at", "id").values_list("pk", "owner_id", "channel")


def _abandoned_ids(clock: dt.datetime) -> list[UUID]:
    """Ids of the worker's deliveries whose sender died."""
    rows = Delivery.unscoped.rows().not_backfilled().abandoned(clock).order_by("held_until", "id")
    return list(rows.values_list("pk", flat=True)[:_QUERY_LIMIT])


def send_queued(*, delivery_ids: Sequence[UUID], enqueue: Enqueue) -> None:
    """Send deliveries that came from the queue, then those of the backlog whose host has room again.

    After a slow send the rest of the batch goes back to the queue, one task each, so that other threads can take them.
    """
    ends_at = time.monotonic() + _MAX_BACKLOG_SECONDS
    for left in send_batch(delivery_ids=delivery_ids):
        enqueue(str(left))
    while (delivery_id := BACKLOG.take()) is not None:
        # A worker that is told to stop waits for its tasks, so no task runs for long.
        if time.monotonic() >= ends_at:
            enqueue(str(delivery_id))
            return
        send_batch(delivery_ids=[delivery_id])


def send_due(*, now: dt.datetime, kinds: Collection[NoticeKind] = tuple(NoticeKind)) -> Counter[SendResult]:
    """Send everything that is due in this process, one after the other; returns the number of each result.

    Accounts take turns. What is left of one whose delivery was slow comes after all others. An exception is logged and
    its delivery left to a later run, so that it does not hold up the others.
    """
    counts: Counter[SendResult] = Counter()
    broken: set[UUID] = set()
    while rows := [row for row in _due_rows(now, kinds) if row[0] not in broken]:
        known_slow = {owner_id for _, owner_id, _ in rows if EXCHANGES.is_slow(owner_id)}
        owner_of = {delivery_id: owner_id for delivery_id, owner_id, channel in rows if not has_own_server(channel)}
        for delivery_id in chain.from_iterable(make_batches(rows)):
            owner_id = owner_of.get(delivery_id)
            if owner_id is not None and owner_id not in known_slow and EXCHANGES.is_slow(owner_id):
                continue  # it has become slow: the next round of the loop finds it, among the last
            try:
                counts[send_delivery(delivery_id=delivery_id, now=now)] += 1
            except CallLimitError:
                continue  # still due: the next round of the loop finds it again
            except Exception:
                log.exception("a delivery could not be tried", extra={"delivery": str(delivery_id)})
                broken.add(delivery_id)
                counts[SendResult.FAILED] += 1
    return counts


def _due_rows(now: dt.datetime, kinds: Collection[NoticeKind]) -> list[DueDelivery]:
    """The deliveries that are due or, if there are none, abandoned.

    Includes those in a queue and those of backfills: whichever process claims a delivery first sends it.
    """
    rows, clock = Delivery.unscoped.rows().filter(kind__in=kinds), timezone.now()
    columns = ("pk", "owner_id", "channel")
    due = rows.due(now).order_by("next_try_at", "id").values_list(*columns)
    return list(due[:_QUERY_LIMIT]) or list(rows.abandoned(clock).values_list(*columns))


class AlreadySentError(DomainError):
    """The target has confirmed the delivery. It is never sent twice."""

    message = define_text("delivery_confirmed", "It was confirmed.")


class BeingSentError(DomainError):
    """A worker has claimed the delivery."""

    message = define_text("delivery_being_sent", "It is being sent.")


class TargetUnavailableError(DomainError):
    """The delivery's target is off, or was removed."""

    message = define_text("delivery_target_off", "Its destination is off, or there is none.")


def retry_delivery(*, delivery: Delivery, now: dt.datetime) -> None:
    """Make the delivery due now, under the same id (webhook-id, push topic), until the end of the account's day.

    Raises AlreadySentError, BeingSentError, TargetUnavailableError. Its relevance is checked again when it
    is sent. The caller enqueues it after the commit. If the process dies before that, the scan enqueues it.
    """
    if delivery.state == DeliveryState.SENT:
        raise AlreadySentError
    if not _is_target_on(delivery):
        raise TargetUnavailableError
    calendar = schedule.load_calendar(delivery.owner)
    values = {
        "state": DeliveryState.PENDING,
        "next_try_at": now,
        "ended_at": None,
        "expires_at": max(delivery.expires_at, end_of_day(calendar.today(now), calendar.zone)),
        # Marks the row as in no queue, so that the scan enqueues it if the caller does not get to.
        "held_until": None,
        # Otherwise a delivery skipped as "crashed" would be skipped again at once.
        "claims": 0,
        "updated_at": timezone.now(),
    }
    rows = Delivery.unscoped.rows().filter(pk=delivery.pk, claim=None)
    with transaction.atomic():
        # The state is checked in the UPDATE: a worker may have sent the delivery since it was read.
        if not rows.exclude(state__in=[DeliveryState.SENT, DeliveryState.SENDING]).update(**values):
            row = Delivery.unscoped.rows().filter(pk=delivery.pk).first()
            raise AlreadySentError if row and row.state == DeliveryState.SENT else BeingSentError


def _is_target_on(delivery: Delivery) -> bool:
    kind = NoticeKind(delivery.kind)
    targets = targets_of(delivery.owner, kind, delivery.channel) if delivery.channel else ()
    return delivery.owner.is_active and any(
        target.key == delivery.target_key and target.off_reason is None for target in targets
    )
