"""Tables of the kernel itself, whose rows belong to no account. The tables of accounts derive from ownership.models."""

from django.db import models


class BudgetUse(models.Model):
    """The draws of one subject on one budget. None of them counts after `ends_at`."""

    # A keyed hash of budget and subject, so that no mail or IP addresses are stored.
    key = models.CharField(max_length=64, primary_key=True)
    drawn_at = models.JSONField(default=list)  # Unix times, oldest first; at most `limit` of the budget
    ends_at = models.DateTimeField(db_index=True)
    # A keyed hash of `drawn_for` of the last draw, by which `forget_draws` finds the row; empty if there was none.
    drawn_for = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["drawn_for"], name="budget_drawn_for", condition=~models.Q(drawn_for="")),
        ]


class DailyCount(models.Model):
    """How often something happened on a past day (UTC), for the operator's charts and for totals.

    `key` is a subdivision of `name`, for instance channel/state/code. A day is counted once, after it has ended
    (contacts_project.operation.day_counts). From then on the counted rows may be purged from their tables.
    """

    day = models.DateField()
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=80, blank=True)
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "day", "key"], name="daily_count_once")]


class PendingMessage(models.Model):
    """A message that is in the queue, for all that ask for it. The key names the task, and the account or record."""

    key = models.CharField(max_length=80, primary_key=True)
    enqueued_at = models.DateTimeField()
