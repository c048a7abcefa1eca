"""What the scheduler and the commands run: look what is due, plan it, hand it to workers or send it here."""

import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.hosts import HostBusyError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind
from notifications.services.backfill import is_other_time, plan_digests_at, plan_reminders_at
from notifications.services.digests import plan_digests, schedule_digest
from notifications.services.parked import PARKED
from notifications.services.planner import plan_due
from notifications.services.sender import Attempt, send_delivery
from people.services.last_contact import count_arrived
from people.services.reminders import replan_account

log = logging.getLogger(__name__)

_HANDED_OUT_AT_ONCE = 5000
_PARKED_SECONDS = 10


def scan(*, now: dt.datetime) -> int:
    """Plan everything that is due; returns how many deliveries were made."""
    replan_stale(now=now)
    # What becomes somebody's last contact today moves the reminder that is due today.
    count_arrived(now=now)
    return plan_due(now=now) + plan_digests(now=now)


def plan_reminders(*, now: dt.datetime) -> int:
    """Plan the reminders due at any moment, past or to come; returns how many deliveries were made."""
    if is_other_time(now):
        return plan_reminders_at(now)
    count_arrived(now=now)
    return plan_due(now=now)


def plan_all_digests(*, now: dt.datetime) -> int:
    """The same for the digests."""
    return plan_digests_at(now) if is_other_time(now) else plan_digests(now=now)


def replan_stale(*, now: dt.datetime) -> int:
    """Replan every account whose clock changed since its rows were planned."""
    # By a mark on the row: the task that follows a change of preferences may be lost with its queue.
    stale = list(User.objects.filter(reminders_stale=True).values_list("pk", flat=True))
    for owner_id in stale:
        try:
            replan(owner_id=owner_id, now=now)
        except Exception:
            log.exception("an account could not be replanned", extra={"owner": str(owner_id)})
    return len(stale)


def replan(*, owner_id: UUID, now: dt.datetime) -> None:
    """Compute one account's due instants anew, its digest's too, in one transaction."""
    try:
        with account_lock(owner_id):
            replan_account(owner_id=owner_id, now=now)
            schedule_digest(User.objects.get(pk=owner_id), now=now)
    except AccountGoneError:
        return


def enqueue_due(enqueue: Callable[[str], object]) -> int:
    """Give `enqueue` the id of each delivery that is due and that no queue has; returns how many.

    The queue may lose them: after two leases they are handed out again.
    """
    clock = timezone.now()
    handed = 0
    for delivery_id in due_ids(clock, limit=_HANDED_OUT_AT_ONCE):
        until = clock + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS)
        # A conditional UPDATE: of two scans at the same moment one hands the delivery out.
        row = Delivery.unscoped.rows().filter(pk=delivery_id)
        if row.waiting(clock).unqueued(clock).update(held_until=until) or row.abandoned(clock).exists():
            enqueue(str(delivery_id))
            handed += 1
    return handed


def due_ids(now: dt.datetime, *, limit: int) -> list[UUID]:
    """The worker's deliveries to be tried at `now` that no queue has, or whose sender died, the oldest first."""
    clock = timezone.now()
    rows = Delivery.unscoped.rows().by_the_clock()
    waiting = rows.waiting(now).unqueued(clock).order_by("next_try_at", "id")
    abandoned = rows.abandoned(clock).order_by("held_until", "id")
    return [*waiting.values_list("pk", flat=True)[:limit], *abandoned.values_list("pk", flat=True)[:limit]]


def send_queued(*, delivery_id: UUID, enqueue: Callable[[str], object]) -> None:
    """Try one delivery that came from the queue, and then what was parked and whose host has room again.

    What is still parked after ten seconds goes through the queue: a worker that stops waits for its tasks.
    """
    ends_at = time.monotonic() + _PARKED_SECONDS
    next_id: UUID | None = delivery_id
    while next_id is not None:
        try:
            send_delivery(delivery_id=next_id, now=timezone.now())
        except HostBusyError as busy:
            PARKED.put(busy.host, next_id)
        next_id = PARKED.take()
        if next_id is not None and time.monotonic() >= ends_at:
            enqueue(str(next_id))
            return


def send_due(*, now: dt.datetime, kinds: Collection[NoticeKind] = tuple(NoticeKind)) -> Counter[Attempt]:
    """Try everything that is due here, one after the other; returns how many ended in what way.

    One that breaks us is logged and left for a later run: others wait behind it.
    """
    counts: Counter[Attempt] = Counter()
    broken: set[UUID] = set()
    while ids := [delivery_id for delivery_id in _due_here(now, kinds) if delivery_id not in broken]:
        for delivery_id in ids:
            try:
                counts[send_delivery(delivery_id=delivery_id, now=now)] += 1
            except HostBusyError:
                continue  # it has waited its while, and is found due again
            except Exception:
                log.exception("a delivery could not be tried", extra={"delivery": str(delivery_id)})
                broken.add(delivery_id)
                counts[Attempt.FAILED] += 1
    return counts


def _due_here(now: dt.datetime, kinds: Collection[NoticeKind]) -> list[UUID]:
    """As due_ids, those that wait in a queue included: whoever claims one first sends it."""
    rows, clock = Delivery.unscoped.rows().filter(kind__in=kinds), timezone.now()
    waiting = rows.waiting(now).order_by("next_try_at", "id").values_list("pk", flat=True)
    return list(waiting[:_HANDED_OUT_AT_ONCE]) or list(rows.abandoned(clock).values_list("pk", flat=True))
