"""How long the ledger remembers."""

import datetime as dt

from django.conf import settings
from django.db.models import Q

from notifications.models import AnswerState, Delivery, ReminderAnswer

_BATCH = 1000


def remembered_since(now: dt.datetime) -> dt.datetime:
    """The moment at which the history begins."""
    return now - dt.timedelta(days=settings.DELIVERY_HISTORY_DAYS)


def remembered(now: dt.datetime) -> Q:
    """The deliveries of the history. One made for a past time (`--now`) counts from when it was made."""
    since = remembered_since(now)
    return Q(planned_at__gte=since) | Q(created_at__gte=since)


def purge_history(*, now: dt.datetime) -> int:
    """Remove deliveries from before the history begins, some at a time; returns how many.

    With them goes what was said to occurrences that nothing can be sent of any more.
    """
    removed = 0
    since = remembered_since(now)
    # Spelled out: SQLite would not see the range of the index in a negated OR.
    old = Delivery.unscoped.filter(planned_at__lt=since, created_at__lt=since).order_by("planned_at")
    while ids := list(old.values_list("pk", flat=True)[:_BATCH]):
        removed += Delivery.unscoped.filter(pk__in=ids).delete()[0]
    ReminderAnswer.unscoped.filter(state=AnswerState.SKIPPED, occurrence_on__lt=since.date()).delete()
    return removed
