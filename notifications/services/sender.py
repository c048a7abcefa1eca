"""Sending deliveries: claim, send, record the outcome. A `kill -9` between any two of these steps loses nothing.

- Before the claim: the row is still due. The scan enqueues it again once its time in the task queue is over.
- After the claim, before or during the send: the row stays in SENDING. The scan finds it as abandoned once its lease
  has run out, or at once if the process was killed on this machine, and it is sent again.
- After the send, before the outcome is recorded: as above. The target may then get the notice a second time, under the
  same id (Message-ID, webhook-id, push topic), by which it recognises it.
- After the outcome is recorded: the row is final or waits for its retry, and is not claimed for this attempt again.

The deliveries of a batch are loaded together; each is claimed, sent and recorded before the next is claimed.
"""

import datetime as dt
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from contacts_project.kernel.leases import RELEASED_VALUES, lease_values
from contacts_project.kernel.outbound.exchanges import EXCHANGES, CallLimitError, exchanges_of, limited_hosts
from notifications.channels import channels, has_own_server
from notifications.channels.interface import AttemptOutcome
from notifications.ledger import MISSED, day_dependent_content, is_late, is_missed
from notifications.models import Delivery, DeliveryState
from notifications.models.deliveries import DELIVERY_FAILURES, DeliveryQuerySet, count_deliveries
from notifications.notices.notice import Notice, NoticeKind
from notifications.services.backlog import BACKLOG
from notifications.services.relevance import Facts, irrelevance_reason, load_facts
from people.dates import schedule
from people.dates.recurrence import end_of_day

log = logging.getLogger(__name__)

RETRY_SCHEDULE_SECONDS = (0, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
"""Backoff: when each attempt is made, in seconds after the first one."""
_MIN_RETRY_SECONDS = 30
_MAX_CLAIMS_PER_ATTEMPT = 5
# A batch is given up after one send this slow, or this long in all: other threads may be free for the rest of it.
_SLOW_SEND_SECONDS, _MAX_BATCH_SECONDS = 1.0, 3.0


class SendResult(StrEnum):
    """How a call of send_delivery ended. The values are part of the output of `deliver_reminders`."""

    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"  # too late, or no longer relevant
    DEFERRED = "put off"  # to the end of the quiet hours
    TAKEN = "taken"  # claimed by another process, or not due


def send_delivery(*, delivery_id: UUID, now: dt.datetime) -> SendResult:
    """Attempt one delivery if it is due and no other process has claimed it.

    Raises CallLimitError: the limit of the host or of the account is reached. Nothing was sent, and the delivery stays
    due.
    """
    deliveries = load_deliveries([delivery_id])
    return _attempt(deliveries[0], load_facts(deliveries), now) if deliveries else SendResult.TAKEN


def send_batch(*, delivery_ids: Sequence[UUID]) -> list[UUID]:
    """Attempt each delivery that is due and unclaimed; returns the ids that were not begun, because a send was slow.

    An exception is logged and does not stop the batch. Its delivery is found again when the lease runs out.
    """
    deliveries = load_deliveries(delivery_ids)
    if len(deliveries) > 1:
        # The broker redelivers a batch whose worker died. What killed it may be one of those in SENDING: leave them to
        # the scan, which enqueues each on its own.
        deliveries = [delivery for delivery in deliveries if delivery.state != DeliveryState.SENDING]
    facts, batch_started = load_facts(deliveries), time.monotonic()
    with _reuse_connections({delivery.channel for delivery in deliveries}):
        for number, delivery in enumerate(deliveries, start=1):
            if not has_own_server(delivery.channel) and not EXCHANGES.has_place(delivery.owner_id):
                # Before the claim: two hundred deliveries of one account must not cost two writes each to be put off.
                BACKLOG.put(delivery.owner_id, delivery.pk)
                continue
            started = time.monotonic()
            try:
                # Claimed only now, not with the whole batch: if the process dies here, the rest is still unclaimed.
                _attempt(delivery, facts, timezone.now())
            except CallLimitError as busy:
                BACKLOG.put(busy.key, delivery.pk)
            except Exception:
                log.exception("a delivery could not be tried", extra={"delivery": str(delivery.pk)})
            ended = time.monotonic()
            if ended - started > _SLOW_SEND_SECONDS or ended - batch_started > _MAX_BATCH_SECONDS:
                return [left.pk for left in deliveries[number:]]
    return []


def load_deliveries(ids: Sequence[UUID]) -> list[Delivery]:
    """The deliveries with owner and person, the longest due first."""
    rows: DeliveryQuerySet = Delivery.unscoped.rows().filter(pk__in=ids).order_by("next_try_at", "id")
    return list(rows.with_owner_and_person())


@contextmanager
def _reuse_connections(names: set[str]) -> Iterator[None]:
    with ExitStack() as stack:
        for name in names & channels().keys():
            stack.enter_context(channels()[name].reuse_connections())
        yield


def claim(delivery: Delivery, *, now: dt.datetime) -> bool:
    """Take the lease on a delivery that is due, or whose worker died; False if another process has it or had it."""
    clock = timezone.now()
    is_due = delivery.next_try_at is not None and delivery.next_try_at <= now
    if not (is_due or delivery.state == DeliveryState.SENDING) or not delivery.is_free(clock):
        return False
    taken = {
        **lease_values(dt.timedelta(seconds=settings.DELIVERY_LEASE_SECONDS), clock),
        "state": DeliveryState.SENDING,
        "next_try_at": None,
        # Counted with the claim, not with the outcome: a delivery that kills every worker never gets to an outcome.
        "claims": delivery.claims + 1,
        "first_tried_at": delivery.first_tried_at or now,
        "updated_at": clock,
    }
    # Compare and swap: a process that claimed the row since it was read has changed `claim` or `claims`.
    as_read = Delivery.unscoped.filter(
        pk=delivery.pk,
        state=delivery.state,
        claim=delivery.claim,
        claims=delivery.claims,
        attempts=delivery.attempts,
    )
    # Committed before anything is sent: if the process dies from here on, the row shows who had it and until when.
    if not as_read.update(**taken):
        return False
    for name, value in taken.items():
        setattr(delivery, name, value)
    return True


def _attempt(delivery: Delivery, facts: Facts, now: dt.datetime) -> SendResult:
    """Claim a delivery, send it if it is still relevant, and record the outcome."""
    if not claim(delivery, now=now):
        return SendResult.TAKEN
    if delivery.attempts and now >= delivery.expires_at:
        give_up(delivery, now)
        return SendResult.FAILED
    # Checked after the claim: nobody else can send it between this check and the send.
    if reason := _skip_reason(delivery, facts, now):
        _finish(delivery, DeliveryState.SKIPPED, reason, now)
        return SendResult.SKIPPED
    sends_at = schedule.calendar_from_user(delivery.owner).sends_at(now)
    if sends_at > now:
        _defer(delivery, sends_at)
        return SendResult.DEFERRED
    if not delivery.attempts and is_content_outdated(delivery, now):
        # Stored before the send: a retry after a crash sends the same content under the same id.
        mark_late(delivery, now)
    try:
        with limited_hosts(), exchanges_of(delivery.owner_id, is_delivery=True):
            target = facts.target_of(delivery)
            row = target.row if target else None
            # If the process dies in here, nobody knows whether the target got it. The lease runs out and it is sent
            # again with the same id.
            outcome = channels()[delivery.channel].send(delivery.target_key, build_notice(delivery, now), row)
    except CallLimitError:
        # Unclaimed and due, but reserved for the backlog of this process. If the process dies, the scan enqueues
        # it after two leases, as it does with what a task queue has lost.
        _defer(delivery, now, held_until=timezone.now() + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS))
        raise
    record_attempt(delivery, outcome, now=now)
    return SendResult.SENT if outcome.is_ok else SendResult.FAILED


def _skip_reason(delivery: Delivery, facts: Facts, now: dt.datetime) -> str | None:
    # Only before the first attempt: from then on the delivery is retried until it expires.
    if not delivery.attempts and is_missed(delivery.due_at, now):
        return MISSED
    if delivery.claims > _MAX_CLAIMS_PER_ATTEMPT * (delivery.attempts + 1):
        return "crashed"  # most claims ended without an outcome: it probably kills the workers that send it
    return irrelevance_reason(delivery, facts)


def is_content_outdated(delivery: Delivery, now: dt.datetime) -> bool:
    """Whether the content was made for an earlier day than that of `now`, or does not yet say that it is late."""
    return now >= delivery.expires_at or (is_late(delivery.due_at, now) and not delivery.late)


def mark_late(delivery: Delivery, now: dt.datetime) -> None:
    """Store that the delivery is late, with the content and the expiry of the day of `now`."""
    calendar = schedule.load_calendar(delivery.owner)
    today = calendar.today(now)
    if now >= delivery.expires_at:
        delivery.expires_at = end_of_day(today, calendar.zone)
    delivery.late = True
    content = day_dependent_content(today, NoticeKind(delivery.kind), delivery.occurrence_on, late=True)
    delivery.content = {**delivery.content, **content}
    Delivery.unscoped.rows().filter(pk=delivery.pk).held_by(delivery.claim).update(
        content=delivery.content, late=True, expires_at=delivery.expires_at, updated_at=timezone.now()
    )


def build_notice(delivery: Delivery, now: dt.datetime) -> Notice:
    """The notice that a channel gets for the attempt at `now`."""
    return Notice(
        id=delivery.pk,
        kind=NoticeKind(delivery.kind),
        owner=delivery.owner,
        content=delivery.content,
        made_at=delivery.planned_at,
        sent_at=now,
        expires_at=delivery.expires_at,
    )


def record_attempt(delivery: Delivery, outcome: AttemptOutcome, *, now: dt.datetime) -> None:
    """Record how an attempt ended: the delivery is sent, waits for a retry, or has failed for good."""
    delivery.attempts += 1
    if outcome.is_ok:
        _finish(delivery, DeliveryState.SENT, "", now, outcome)
        return
    code = outcome.code or "unknown"
    DELIVERY_FAILURES.count(delivery.channel, code)
    retry_at = next_try_at(delivery, outcome, now)
    if retry_at is None:
        _finish(delivery, DeliveryState.FAILED, code, now, outcome)
    else:
        _schedule_retry(delivery, code, retry_at, now)


def give_up(delivery: Delivery, now: dt.datetime) -> None:
    """End a delivery that was attempted on its day, which is over, and failed each time."""
    code = delivery.code or "unknown"
    _finish(delivery, DeliveryState.FAILED, code, now, AttemptOutcome(code=code))


def next_try_at(delivery: Delivery, outcome: AttemptOutcome, now: dt.datetime) -> dt.datetime | None:
    """When to retry after `delivery.attempts` attempts; None if no attempt is left, or none before it expires."""
    if outcome.is_final or delivery.attempts >= len(RETRY_SCHEDULE_SECONDS):
        return None
    first = delivery.first_tried_at or now
    # Jitter of up to 10 % either way, derived from the id: deliveries that failed together are not retried together.
    jitter = 1 + ((delivery.pk.int + delivery.attempts * 7919) % 2001 - 1000) / 10_000
    planned = first + dt.timedelta(seconds=RETRY_SCHEDULE_SECONDS[delivery.attempts] * jitter)
    pause = max(_MIN_RETRY_SECONDS, outcome.retry_after or 0)
    retry_at = max(planned, now + dt.timedelta(seconds=pause))
    # Compared before quiet hours are applied: a retry that quiet hours move to the next day is still made.
    return schedule.calendar_from_user(delivery.owner).sends_at(retry_at) if retry_at < delivery.expires_at else None


def _schedule_retry(delivery: Delivery, code: str, retry_at: dt.datetime, now: dt.datetime) -> None:
    """Release the delivery with its next attempt; the owner sees the failure at the destination meanwhile."""
    # One transaction: if the process dies before the commit, the row is still claimed and its lease runs out.
    with transaction.atomic():
        if retry_at >= delivery.expires_at:
            mark_late(delivery, retry_at)
        is_released = _update_claimed(
            delivery,
            **RELEASED_VALUES,
            state=DeliveryState.PENDING,
            code=code,
            attempts=delivery.attempts,
            next_try_at=retry_at,
        )
        if is_released:
            channels()[delivery.channel].note_failure(delivery.target_key, code, owner=delivery.owner, now=now)


def _finish(
    delivery: Delivery, state: DeliveryState, code: str, now: dt.datetime, outcome: AttemptOutcome | None = None
) -> None:
    """Put the delivery into a final state, and pass the `outcome`, if there was an attempt, on to its channel.

    A failure is counted at the destination in the same transaction. A success is passed on after the delivery was
    committed as sent: if the process dies between the two, earlier failures stay counted until the next success, but
    the delivery is never sent again.
    """
    # Not `[]`: the channel of an old delivery may have been removed from the code.
    channel = channels().get(delivery.channel)
    recording = channel if channel and channel.records_outcomes and outcome is not None else None
    is_confirmed = outcome is not None and outcome.is_ok
    with transaction.atomic() if recording and not is_confirmed else nullcontext():
        is_finished = _update_claimed(
            delivery,
            **RELEASED_VALUES,
            state=state,
            code=code,
            attempts=delivery.attempts,
            ended_at=now,
            next_try_at=None,
        )
        if is_finished and recording and outcome:
            recording.record_outcome(delivery.target_key, outcome, owner=delivery.owner, now=now)
    if is_finished:
        count_deliveries(delivery.channel, state)


def _defer(delivery: Delivery, until: dt.datetime, held_until: dt.datetime | None = None) -> None:
    """Release a delivery that was not attempted, due again at `until`; the claim does not count."""
    if delivery.attempts and until >= delivery.expires_at:
        mark_late(delivery, until)
    _update_claimed(
        delivery,
        **{**RELEASED_VALUES, "held_until": held_until},
        state=DeliveryState.PENDING,
        next_try_at=until,
        claims=delivery.claims - 1,
        first_tried_at=delivery.first_tried_at if delivery.attempts else None,
    )


def _update_claimed(delivery: Delivery, **values: object) -> int:
    """Update the row if this process still has the claim; returns the number of rows, 0 or 1.

    After the lease has run out another process may have claimed the row. It records the outcome; this one must not.
    """
    if delivery.claim is None:
        return 0
    claimed = Delivery.unscoped.filter(pk=delivery.pk, claim=delivery.claim)
    return claimed.update(**values, updated_at=timezone.now())
