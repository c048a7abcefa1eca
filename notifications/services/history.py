"""How long the ledger remembers."""

import datetime as dt

from django.conf import settings

from notifications.models import Delivery

_BATCH = 1000


def remembered_since(now: dt.datetime) -> dt.datetime:
    """The moment at which the history begins."""
    return now - dt.timedelta(days=settings.DELIVERY_HISTORY_DAYS)


def purge_history(*, now: dt.datetime) -> int:
    """Remove deliveries from before the history begins, some at a time; returns how many."""
    removed = 0
    old = Delivery.unscoped.filter(planned_at__lt=remembered_since(now)).order_by("planned_at")
    while ids := list(old.values_list("pk", flat=True)[:_BATCH]):
        removed += Delivery.unscoped.filter(pk__in=ids).delete()[0]
    return removed
