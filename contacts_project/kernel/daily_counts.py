"""Counts of days that are over: what the charts of operation are drawn from, and what a total goes back to.

A day (UTC) is counted once, after it has ended (contacts_project.operation.figures); then its rows may go from the
tables that they were counted in.
"""

from django.db import models


class DailyCount(models.Model):
    """How often something happened on a day: `key` tells apart what `name` counts (channel/state/code, say)."""

    day = models.DateField()
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=80, blank=True)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "day", "key"], name="daily_count_once")]
