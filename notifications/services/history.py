"""The retention of the ledger: DELIVERY_HISTORY_DAYS."""

import datetime as dt

from django.conf import settings
from django.db.models import Q

from notifications.models import AnswerState, Delivery, ReminderAnswer

_BATCH_SIZE = 1000


def history_start(now: dt.datetime) -> dt.datetime:
    """The time from which on deliveries are kept."""
    return now - dt.timedelta(days=settings.DELIVERY_HISTORY_DAYS)


def in_history(now: dt.datetime) -> Q:
    """The condition for deliveries that are kept. A delivery of a backfill counts from when it was created."""
    since = history_start(now)
    return Q(planned_at__gte=since) | Q(created_at__gte=since)


def purge_history(*, now: dt.datetime) -> int:
    """Delete deliveries from before the history, in batches; returns how many.

    Also deletes skip answers to occurrences from before it, of which nothing is sent any more.
    """
    removed = 0
    since = history_start(now)
    # Not `~in_history(now)`: SQLite does not use the index for a negated OR.
    old = Delivery.unscoped.filter(planned_at__lt=since, created_at__lt=since).order_by("planned_at")
    # Short transactions, so that others can write in between.
    while ids := list(old.values_list("pk", flat=True)[:_BATCH_SIZE]):
        removed += Delivery.unscoped.filter(pk__in=ids).delete()[0]
    ReminderAnswer.unscoped.filter(state=AnswerState.SKIPPED, occurrence_on__lt=since.date()).delete()
    return removed
