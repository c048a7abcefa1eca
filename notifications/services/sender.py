"""Deliveries: claim, send, record how each ended. Each step survives a kill -9 between it and the next.

Those of a batch are read together; each is claimed, sent and recorded before the next is claimed.
"""

import datetime as dt
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.updates import update_where
from contacts_project.kernel.leases import RELEASED_VALUES, lease_values
from contacts_project.kernel.outbound.hosts import HostBusyError, limited_hosts
from notifications.channels import channels
from notifications.channels.interface import Outcome
from notifications.delivery_metrics import FAILURES, count_deliveries
from notifications.ledger import MISSED, first_sent_content, is_late, is_missed
from notifications.models import Delivery, DeliveryState
from notifications.models.delivery import DeliveryQuerySet
from notifications.notices.notice import Notice, NoticeKind
from notifications.services.host_backlog import BACKLOG
from notifications.services.relevance import Facts, read_facts, why_irrelevant
from people.dates import schedule
from people.dates.recurrence import end_of_day
from people.models import Person

log = logging.getLogger(__name__)

TRY_AFTER = (0, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
"""Seconds from the first try to each of the tries."""
_MIN_PAUSE = 30
_UNREAD = tuple(f"person__{column}" for column in ("notes", *Person.DOCUMENTS))
_MOST_CLAIMS_PER_TRY = 5
# When one of a batch has taken so long, or all together, the rest goes on alone: others have a thread free for it.
_LONG_SECONDS, _BATCH_SECONDS = 1.0, 3.0


class Attempt(StrEnum):
    """What became of a call of send_delivery."""

    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"  # too late, or not wanted any more
    PUT_OFF = "put off"  # to the end of the quiet hours
    TAKEN = "taken"  # by another run, which sends it


def send_delivery(*, delivery_id: UUID, now: dt.datetime) -> Attempt:
    """Try one delivery that is due, unless another run has it.

    Raises HostBusyError: its host has as much of us as it may have; nothing was tried, and it stays due.
    """
    deliveries = read([delivery_id])
    return _try(deliveries[0], read_facts(deliveries), now) if deliveries else Attempt.TAKEN


def send_batch(*, delivery_ids: Sequence[UUID]) -> list[UUID]:
    """Try each that is due and that no other run has; returns those that were not begun, since one took long.

    Read together, and each claimed right before it is sent: of what waits here nothing is ours. One that breaks us is
    logged, and found again when its lease runs out.
    """
    deliveries = read(delivery_ids)
    if len(deliveries) > 1:
        # A batch whose worker died comes back whole. What it died of is among those begun: they go alone, by the scan.
        deliveries = [delivery for delivery in deliveries if delivery.state != DeliveryState.SENDING]
    facts, begun = read_facts(deliveries), time.monotonic()
    with _kept_open({delivery.channel for delivery in deliveries}):
        for number, delivery in enumerate(deliveries, start=1):
            started = time.monotonic()
            try:
                _try(delivery, facts, timezone.now())
            except HostBusyError as busy:
                BACKLOG.put(busy.host, delivery.pk)
            except Exception:
                log.exception("a delivery could not be tried", extra={"delivery": str(delivery.pk)})
            ended = time.monotonic()
            if ended - started > _LONG_SECONDS or ended - begun > _BATCH_SECONDS:
                return [left.pk for left in deliveries[number:]]
    return []


def _with_ids(ids: Sequence[UUID]) -> QuerySet[Delivery]:
    rows: DeliveryQuerySet = Delivery.unscoped.rows().filter(pk__in=ids).order_by("next_try_at", "id")
    return rows.select_related("owner", "person").defer(*_UNREAD)


_DELIVERIES = CompiledQuery(_with_ids)


@contextmanager
def _kept_open(names: set[str]) -> Iterator[None]:
    with ExitStack() as stack:
        for name in names & channels().keys():
            stack.enter_context(channels()[name].kept_open())
        yield


def read(ids: Sequence[UUID]) -> list[Delivery]:
    """The deliveries, with owner and person, the oldest first."""
    return _DELIVERIES.instances(ids=ids)


def claim(delivery: Delivery, *, now: dt.datetime) -> bool:
    """Take the delivery for as long as the lease lasts; False when it is not due, or somebody else has or had it.

    By a conditional UPDATE of the row as it was read: whoever took it meanwhile has left another claim, or count.
    """
    clock = timezone.now()
    is_due = delivery.next_try_at is not None and delivery.next_try_at <= now
    if not (is_due or delivery.state == DeliveryState.SENDING) or not delivery.is_free(clock):
        return False  # of those that are being sent one may be taken whose sender died
    as_read = {name: getattr(delivery, name) for name in ("id", "state", "claim", "claims", "attempts")}
    taken = {
        **lease_values(dt.timedelta(seconds=settings.DELIVERY_LEASE_SECONDS), clock),
        "state": DeliveryState.SENDING,
        "next_try_at": None,
        # Counted with the claim itself: a delivery that kills its worker each time is given up some day.
        "claims": delivery.claims + 1,
        "first_tried_at": delivery.first_tried_at or now,
        "updated_at": clock,
    }
    if not update_where(Delivery, as_read, taken):
        return False
    for name, value in taken.items():
        setattr(delivery, name, value)
    return True


def _try(delivery: Delivery, facts: Facts, now: dt.datetime) -> Attempt:
    """Claim a delivery, send it if it is still wanted, and record it."""
    if not claim(delivery, now=now):
        return Attempt.TAKEN
    if delivery.attempts and now >= delivery.expires_at:
        give_up(delivery, now)
        return Attempt.FAILED
    if reason := _why_not(delivery, facts, now):
        _end(delivery, DeliveryState.SKIPPED, reason, now)
        return Attempt.SKIPPED
    sends_at = schedule.calendar_from_user(delivery.owner).sends_at(now)
    if sends_at > now:
        _put_off(delivery, sends_at)
        return Attempt.PUT_OFF
    if not delivery.attempts and is_content_outdated(delivery, now):
        mark_late(delivery, now)
    try:
        with limited_hosts():
            target = facts.target_of(delivery)
            row = target.row if target else None
            outcome = channels()[delivery.channel].send(delivery.target_key, notice_of(delivery, now), row)
    except HostBusyError:
        # The scan leaves it to whoever waits for the host, as long as to a queue.
        _put_off(delivery, now, held_until=timezone.now() + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS))
        raise
    record(delivery, outcome, now=now)
    return Attempt.SENT if outcome.is_ok else Attempt.FAILED


def _why_not(delivery: Delivery, facts: Facts, now: dt.datetime) -> str | None:
    if not delivery.attempts and is_missed(delivery.due_at, now):  # once tried, it goes on until it expires
        return MISSED
    if delivery.claims > _MOST_CLAIMS_PER_TRY * (delivery.attempts + 1):
        return "crashed"  # whoever tries it dies of it
    return why_irrelevant(delivery, facts)


def is_content_outdated(delivery: Delivery, now: dt.datetime) -> bool:
    """Whether the day or the lateness that the content names is not that of `now`."""
    return now >= delivery.expires_at or (is_late(delivery.due_at, now) and not delivery.late)


def mark_late(delivery: Delivery, now: dt.datetime) -> None:
    """Where the first try comes later than planned, say so; every further try of that day says the same."""
    calendar = schedule.load_calendar(delivery.owner)
    today = calendar.today(now)
    if now >= delivery.expires_at:
        delivery.expires_at = end_of_day(today, calendar.zone)
    delivery.late = True
    content = first_sent_content(today, NoticeKind(delivery.kind), delivery.occurrence_on, late=True)
    delivery.content = {**delivery.content, **content}
    _write(delivery, content=delivery.content, late=True, expires_at=delivery.expires_at)


def notice_of(delivery: Delivery, now: dt.datetime) -> Notice:
    """What the channel is handed at the try of `now`."""
    return Notice(
        id=delivery.pk,
        kind=NoticeKind(delivery.kind),
        owner=delivery.owner,
        content=delivery.content,
        made_at=delivery.planned_at,
        sent_at=now,
        expires_at=delivery.expires_at,
    )


def record(delivery: Delivery, outcome: Outcome, *, now: dt.datetime) -> None:
    """Write down how a try ended: sent, to be tried again, or given up."""
    delivery.attempts += 1
    if outcome.is_ok:
        _end(delivery, DeliveryState.SENT, "", now, outcome)
        return
    code = outcome.code or "unknown"
    FAILURES.count(delivery.channel, code)
    again_at = next_try_at(delivery, outcome, now)
    if again_at is None:
        _end(delivery, DeliveryState.FAILED, code, now, outcome)
    else:
        _wait(delivery, code, again_at, now)


def give_up(delivery: Delivery, now: dt.datetime) -> None:
    """The account's day is over, and the tries made on it have failed."""
    code = delivery.code or "unknown"
    _end(delivery, DeliveryState.FAILED, code, now, Outcome(code=code))


def next_try_at(delivery: Delivery, outcome: Outcome, now: dt.datetime) -> dt.datetime | None:
    """When to try again after `delivery.attempts` tries; None: not any more, or not on the account's day."""
    if outcome.is_final or delivery.attempts >= len(TRY_AFTER):
        return None
    first = delivery.first_tried_at or now
    # Up to a tenth either way, by the row: what failed together does not come back together.
    spread = 1 + ((delivery.pk.int + delivery.attempts * 7919) % 2001 - 1000) / 10_000
    planned = first + dt.timedelta(seconds=TRY_AFTER[delivery.attempts] * spread)
    pause = max(_MIN_PAUSE, outcome.retry_after or 0)
    again_at = max(planned, now + dt.timedelta(seconds=pause))
    # What falls into quiet hours that go on past the day is tried when they are over.
    return schedule.calendar_from_user(delivery.owner).sends_at(again_at) if again_at < delivery.expires_at else None


def _wait(delivery: Delivery, code: str, again_at: dt.datetime, now: dt.datetime) -> None:
    """Leave the delivery to its next try; its destination shows the failure meanwhile."""
    with transaction.atomic():
        if again_at >= delivery.expires_at:
            mark_late(delivery, again_at)
        waits = _write(
            delivery,
            **RELEASED_VALUES,
            state=DeliveryState.PENDING,
            code=code,
            attempts=delivery.attempts,
            next_try_at=again_at,
        )
        if waits:
            channels()[delivery.channel].note_failure(delivery.target_key, code, owner=delivery.owner, now=now)


def _end(delivery: Delivery, state: DeliveryState, code: str, now: dt.datetime, outcome: Outcome | None = None) -> None:
    """End the delivery. With an `outcome` its destination hears of it: that it was given up in the same transaction,
    that it was confirmed right after. Should we die between those two, earlier failures stay counted until the next one
    is confirmed; the delivery itself is never sent again.
    """
    channel = channels().get(delivery.channel)
    recording = channel if channel and channel.records_outcomes and outcome is not None else None
    is_confirmed = outcome is not None and outcome.is_ok
    with transaction.atomic() if recording and not is_confirmed else nullcontext():
        ended = _write(
            delivery,
            **RELEASED_VALUES,
            state=state,
            code=code,
            attempts=delivery.attempts,
            ended_at=now,
            next_try_at=None,
        )
        if ended and recording and outcome:
            recording.record_outcome(delivery.target_key, outcome, owner=delivery.owner, now=now)
    if ended:
        count_deliveries(delivery.channel, state)


def _put_off(delivery: Delivery, until: dt.datetime, held_until: dt.datetime | None = None) -> None:
    """Give the delivery back untried."""
    if delivery.attempts and until >= delivery.expires_at:
        mark_late(delivery, until)
    _write(
        delivery,
        **{**RELEASED_VALUES, "held_until": held_until},
        state=DeliveryState.PENDING,
        next_try_at=until,
        claims=delivery.claims - 1,
        first_tried_at=delivery.first_tried_at if delivery.attempts else None,
    )


def _write(delivery: Delivery, **values: Any) -> int:
    """Write to the row while it is still ours: whoever took it over after our lease records its own outcome."""
    if delivery.claim is None:
        return 0
    ours = {"id": delivery.pk, "claim": delivery.claim}
    return update_where(Delivery, ours, {**values, "updated_at": timezone.now()})
