"""One delivery: claim it, send it, record how it ended. Each step survives a kill -9 between it and the next."""

import datetime as dt
import logging
from enum import StrEnum
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from contacts_project.kernel.outbound.hosts import HostBusyError, limited_hosts
from notifications.channels import channels
from notifications.channels.interface import Outcome
from notifications.delivery_metrics import FAILURES, count_deliveries
from notifications.ledger import MISSED, first_sent_content, is_late, is_missed
from notifications.models import Delivery, DeliveryState
from notifications.notices.notice import Notice, NoticeKind
from notifications.services.relevance import why_irrelevant
from people.dates import schedule
from people.dates.recurrence import end_of_day
from people.models import Person

log = logging.getLogger(__name__)

TRY_AFTER = (0, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
"""Seconds from the first try to each of the tries."""
_MIN_PAUSE = 30
_UNREAD = tuple(f"person__{column}" for column in ("notes", *Person.DOCUMENTS))
_MOST_CLAIMS_PER_TRY = 5


class Attempt(StrEnum):
    """What became of a call of send_delivery."""

    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"  # too late, or not wanted any more
    TAKEN = "taken"  # by another run, which sends it


def send_delivery(*, delivery_id: UUID, now: dt.datetime) -> Attempt:
    """Try one delivery that is due, unless another run has it.

    Raises HostBusyError: its host has as much of us as it may have; nothing was tried, and it stays due.
    """
    delivery = claim(delivery_id=delivery_id, now=now)
    if delivery is None:
        return Attempt.TAKEN
    if delivery.attempts and now >= delivery.expires_at:
        give_up(delivery, now)
        return Attempt.FAILED
    if reason := _why_not(delivery, now):
        _end(delivery, DeliveryState.SKIPPED, reason, now)
        return Attempt.SKIPPED
    if not delivery.attempts and is_content_outdated(delivery, now):
        mark_late(delivery, now)
    try:
        with limited_hosts():
            outcome = channels()[delivery.channel].send(delivery.target_key, notice_of(delivery, now))
    except HostBusyError:
        _put_off(delivery, now)
        raise
    record(delivery, outcome, now=now)
    return Attempt.SENT if outcome.is_ok else Attempt.FAILED


def claim(*, delivery_id: UUID, now: dt.datetime) -> Delivery | None:
    """Take the delivery for as long as the lease lasts; None when it is not due or somebody else has it."""
    clock = timezone.now()
    due = Q(next_try_at__lte=now) | Q(state=DeliveryState.SENDING)  # the latter where its sender died
    token = (
        Delivery.unscoped.rows()
        .filter(due, pk=delivery_id)
        .take(
            dt.timedelta(seconds=settings.DELIVERY_LEASE_SECONDS),
            clock=clock,
            state=DeliveryState.SENDING,
            next_try_at=None,
            # Counted with the claim itself: a delivery that kills its worker each time is given up some day.
            claims=F("claims") + 1,
            first_tried_at=Coalesce("first_tried_at", Value(now, output_field=DateTimeField())),
            updated_at=clock,
        )
    )
    ours = Delivery.unscoped.rows().filter(pk=delivery_id).under(token)
    return cast("Delivery | None", ours.select_related("owner", "person").defer(*_UNREAD).first())


def _why_not(delivery: Delivery, now: dt.datetime) -> str | None:
    if not delivery.attempts and is_missed(delivery.due_at, now):  # once tried, it goes on until it expires
        return MISSED
    if delivery.claims > _MOST_CLAIMS_PER_TRY * (delivery.attempts + 1):
        return "crashed"  # whoever tries it dies of it
    return why_irrelevant(delivery)


def is_content_outdated(delivery: Delivery, now: dt.datetime) -> bool:
    """Whether the day or the lateness that the content names is not that of `now`."""
    return now >= delivery.expires_at or (is_late(delivery.due_at, now) and not delivery.late)


def mark_late(delivery: Delivery, now: dt.datetime) -> None:
    """Where the first try comes later than planned, say so; every further try says the same."""
    clock = schedule.calendar_of(delivery.owner)
    today = clock.today(now)
    if now >= delivery.expires_at:
        delivery.expires_at = end_of_day(today, clock.zone)
    delivery.late = True
    content = first_sent_content(today, NoticeKind(delivery.kind), delivery.occurrence_on, late=True)
    delivery.content = {**delivery.content, **content}
    values = {"content": delivery.content, "late": True, "expires_at": delivery.expires_at}
    _ours(delivery).update(**values, updated_at=timezone.now())


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
    return again_at if again_at < delivery.expires_at else None


def _wait(delivery: Delivery, code: str, again_at: dt.datetime, now: dt.datetime) -> None:
    """Leave the delivery to its next try; its destination shows the failure meanwhile."""
    with transaction.atomic():
        waits = _ours(delivery).release(
            state=DeliveryState.PENDING,
            code=code,
            attempts=delivery.attempts,
            next_try_at=again_at,
            updated_at=timezone.now(),
        )
        if waits:
            channels()[delivery.channel].note_failure(delivery.target_key, code, owner=delivery.owner, now=now)


def _end(delivery: Delivery, state: DeliveryState, code: str, now: dt.datetime, outcome: Outcome | None = None) -> None:
    """End the delivery; with an `outcome` its destination hears of it, in the same transaction."""
    with transaction.atomic():
        ended = _ours(delivery).release(
            state=state,
            code=code,
            attempts=delivery.attempts,
            ended_at=now,
            next_try_at=None,
            updated_at=timezone.now(),
        )
        if ended and outcome is not None:
            channels()[delivery.channel].record_outcome(delivery.target_key, outcome, owner=delivery.owner, now=now)
    if ended:
        count_deliveries(delivery.channel, state)


def _put_off(delivery: Delivery, now: dt.datetime) -> None:
    """Give the delivery back as it was. The scan leaves it to whoever waits for the host, as long as to a queue."""
    clock = timezone.now()
    _ours(delivery).update(
        state=DeliveryState.PENDING,
        next_try_at=now,
        claims=F("claims") - 1,
        first_tried_at=delivery.first_tried_at if delivery.attempts else None,
        held_until=clock + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS),
        holder="",
        claim=None,
        updated_at=clock,
    )


def _ours(delivery: Delivery) -> Any:
    """The row while it is still ours: whoever took it over after our lease records its own outcome."""
    return Delivery.unscoped.rows().filter(pk=delivery.pk).under(delivery.claim)
