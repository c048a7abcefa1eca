"""Daily counts of past days, for the operator's charts and for totals.

A day (UTC) is counted once, after it has ended (contacts_project.operation.day_counts). From then on the counted rows
may be purged from their tables.
"""

from django.db import models


class DailyCount(models.Model):
    """How often something happened on a day. `key` is a subdivision of `name`, for instance channel/state/code."""

    day = models.DateField()
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=80, blank=True)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "day", "key"], name="daily_count_once")]
