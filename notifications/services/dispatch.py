"""What the scheduler and the commands run: look what is due, plan it, hand it to workers or send it here."""

import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.hosts import HostBusyError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.models import Delivery
from notifications.models.delivery import DeliveryQuerySet
from notifications.notices.notice import NoticeKind
from notifications.services.answers import replan_snoozed
from notifications.services.backfill import is_other_time, plan_digests_at, plan_reminders_at
from notifications.services.digests import plan_digests, schedule_digest
from notifications.services.host_backlog import BACKLOG
from notifications.services.planner import plan_due, share_due
from notifications.services.sender import Attempt, send_batch, send_delivery
from people.services.last_contact import count_arrived
from people.services.reminders import replan_account

log = logging.getLogger(__name__)
Enqueue = Callable[..., object]

_HANDED_OUT_AT_ONCE = 5000
_BACKLOG_SECONDS = 10
# As many mails as strict mail servers take over one connection.
BATCH = 20


def scan(*, now: dt.datetime, share: Enqueue | None = None) -> int:
    """Plan everything that is due; returns how many deliveries were made here.

    Where many accounts are due their reminders are left to whom `share` gives them.
    """
    replan_stale(now=now)
    # What becomes somebody's last contact today moves the reminder that is due today.
    count_arrived(now=now)
    is_shared = share is not None and share_due(now=now, enqueue=share)
    return (0 if is_shared else plan_due(now=now)) + plan_digests(now=now)


def plan_portion(*, owner_ids: Sequence[UUID], now: dt.datetime, enqueue: Enqueue) -> None:
    """Plan what is due of some accounts, and hand it out."""
    if plan_due(now=now, owner_ids=owner_ids):
        waiting = list(_waiting(timezone.now()).filter(owner_id__in=owner_ids))
        _hand_out_all(waiting, enqueue)


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
            replan_snoozed(owner_id=owner_id, now=now)
            schedule_digest(User.objects.get(pk=owner_id), now=now)
    except AccountGoneError:
        return


def enqueue_due(enqueue: Enqueue) -> int:
    """Give `enqueue` the ids of the deliveries that are due and that no queue has, in batches; returns how many.

    The queue may lose them: after two leases they are handed out again. One whose sender died goes alone: if it kills
    whoever tries it, it takes no others along.
    """
    clock = timezone.now()
    handed = sum(hand_out([delivery_id], enqueue) for delivery_id in _abandoned(clock))
    while waiting := list(_waiting(clock)[:_HANDED_OUT_AT_ONCE]):
        handed += _hand_out_all(waiting, enqueue)
    return handed


def _hand_out_all(waiting: Sequence[UUID], enqueue: Enqueue) -> int:
    return sum(hand_out(waiting[at : at + BATCH], enqueue) for at in range(0, len(waiting), BATCH))


def hand_out(delivery_ids: Sequence[UUID], enqueue: Enqueue) -> int:
    """Give `enqueue` these as one batch, unless queues have them all; returns how many it got."""
    clock = timezone.now()
    until = clock + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS)
    rows = Delivery.unscoped.rows().filter(pk__in=delivery_ids)
    # A conditional UPDATE: of two scans at the same moment one hands them out.
    handed: int = rows.waiting(clock).unqueued(clock).update(held_until=until) or rows.abandoned(clock).count()
    if handed:
        enqueue(*map(str, delivery_ids))
    return handed


def _waiting(clock: dt.datetime) -> QuerySet[Delivery, UUID]:
    """The worker's deliveries to be tried now that no queue has, the oldest first."""
    rows: DeliveryQuerySet = Delivery.unscoped.rows().by_the_clock().waiting(clock).unqueued(clock)
    return rows.order_by("next_try_at", "id").values_list("pk", flat=True)


def _abandoned(clock: dt.datetime) -> list[UUID]:
    """Those whose sender died."""
    rows = Delivery.unscoped.rows().by_the_clock().abandoned(clock).order_by("held_until", "id")
    return list(rows.values_list("pk", flat=True)[:_HANDED_OUT_AT_ONCE])


def send_queued(*, delivery_ids: Sequence[UUID], enqueue: Enqueue) -> None:
    """Try deliveries that came from the queue, and then what waited for its host and finds room again.

    Where one takes long those behind it go on through the queue, each with a thread of its own. So does what is still
    waiting after ten seconds: a worker that stops waits for its tasks.
    """
    ends_at = time.monotonic() + _BACKLOG_SECONDS
    for left in send_batch(delivery_ids=delivery_ids):
        enqueue(str(left))
    while (waiting := BACKLOG.take()) is not None:
        if time.monotonic() >= ends_at:
            enqueue(str(waiting))
            return
        send_batch(delivery_ids=[waiting])


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
    """As the worker's, those that wait in a queue included: whoever claims one first sends it."""
    rows, clock = Delivery.unscoped.rows().filter(kind__in=kinds), timezone.now()
    waiting = rows.waiting(now).order_by("next_try_at", "id").values_list("pk", flat=True)
    return list(waiting[:_HANDED_OUT_AT_ONCE]) or list(rows.abandoned(clock).values_list("pk", flat=True))
