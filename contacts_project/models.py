"""The tables that no account owns: those of the kernel, which is no Django app, and the counts of past days."""

from django.db import models

from contacts_project.kernel.ownership.models import Tombstone
from contacts_project.kernel.pending_messages import PendingMessage
from contacts_project.kernel.rate_limits import BudgetUse

__all__ = ["BudgetUse", "DailyCount", "PendingMessage", "Tombstone"]


class DailyCount(models.Model):
    """How often something happened on a past day (UTC), for the operator's charts and for totals.

    `key` is a subdivision of `name`, for instance channel/state/code. A day is counted once, after it has ended
    (contacts_project.operation.figures). From then on the counted rows may be purged from their tables.
    """

    day = models.DateField()
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=80, blank=True)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "day", "key"], name="daily_count_once")]
