"""Budgets: so many of one thing, for one subject, in any so many seconds.

Counted in rows of the database: every process sees the same count, it outlives a restart, and nobody's count makes
room for another's. A row goes once nothing in it counts any more (`purge_budgets`). A `CachedBudget` is counted in the
cache instead, by django-ratelimit: about right, since a cache may forget.
"""

import datetime as dt
import math
from dataclasses import dataclass

from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_ratelimit.core import get_usage

from contacts_project.kernel.errors import RateLimitedError

_PURGED_AT_ONCE = 500


class BudgetUse(models.Model):
    """What one subject has drawn on one budget. Nothing of it counts after `ends_at`."""

    # A keyed hash of budget and subject: addresses of mail and of callers stand in no table for this.
    key = models.CharField(max_length=64, primary_key=True)
    drawn_at = models.JSONField(default=list)  # Unix times, oldest first; at most the budget's limit of them
    ends_at = models.DateTimeField(db_index=True)
    # The same kind of hash of what the last draw was made for, to forget all that was drawn for it; empty: for itself.
    drawn_for = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["drawn_for"], name="budget_drawn_for", condition=~models.Q(drawn_for="")),
        ]


@dataclass(frozen=True)
class Budget:
    """`limit` draws in any `seconds`. Draws that were refused do not count."""

    name: str
    limit: int
    seconds: int

    def draw(self, subject: str, *, drawn_for: str = "") -> None:
        """Take one. Before the thing is done: calls at the same time cannot overdraw. Raises RateLimitedError.

        Inside a transaction the draw is undone with it. `drawn_for`: what `forget_draws` can later be asked of.
        """
        key, now = _key(self.name, subject), timezone.now()
        if use := BudgetUse.objects.filter(key=key).first():
            self._recent(use, now)  # a flood that is refused writes nothing
        with transaction.atomic():
            # The upsert locks the row to the end of the transaction (SQLite: the whole database).
            fresh = BudgetUse(key=key, ends_at=now + dt.timedelta(seconds=self.seconds))
            BudgetUse.objects.bulk_create(
                [fresh], update_conflicts=True, unique_fields=["key"], update_fields=["ends_at"]
            )
            use = BudgetUse.objects.get(key=key)
            use.drawn_at = [*self._recent(use, now), now.timestamp()]
            use.drawn_for = _key("for", drawn_for) if drawn_for else ""
            use.save(update_fields=["drawn_at", "drawn_for"])

    def give_back(self, subject: str) -> None:
        """Return the last draw: the thing turned out not to count."""
        with transaction.atomic():
            use = BudgetUse.objects.select_for_update().filter(key=_key(self.name, subject)).first()
            if use is not None:
                use.drawn_at = use.drawn_at[:-1]
                use.save(update_fields=["drawn_at"])

    def clear(self, subject: str) -> None:
        """Forget all that was drawn."""
        BudgetUse.objects.filter(key=_key(self.name, subject)).delete()

    def _recent(self, use: BudgetUse, now: dt.datetime) -> list[float]:
        """The draws that count now. Raises RateLimitedError, with the time until there is room, when they are all."""
        times = [drawn for drawn in use.drawn_at if drawn > now.timestamp() - self.seconds]
        if len(times) >= self.limit:
            raise RateLimitedError(math.ceil(times[-self.limit] + self.seconds - now.timestamp()))
        return times


@dataclass(frozen=True)
class CachedBudget:
    """`limit` draws in each window of `seconds`, for what costs little and should write nothing."""

    name: str
    limit: int
    seconds: int

    def draw(self, subject: str) -> None:
        """Take one. Raises RateLimitedError."""
        key, rate = _key(self.name, subject), f"{self.limit}/{self.seconds}s"
        usage = get_usage(None, group=self.name, key=lambda *_: key, rate=rate, increment=True)
        if usage and usage["should_limit"]:
            raise RateLimitedError(usage["time_left"])


def forget_draws(drawn_for: str) -> None:
    """Forget all that was drawn by subjects whose last draw was for this."""
    BudgetUse.objects.filter(drawn_for=_key("for", drawn_for)).delete()


def _key(name: str, subject: str) -> str:
    return salted_hmac(f"budget.{name}", subject, algorithm="sha256").hexdigest()


def purge_budgets(*, now: dt.datetime) -> int:
    """Remove the rows in which nothing counts any more; how many."""
    over = BudgetUse.objects.filter(ends_at__lt=now)
    removed = 0
    while True:
        with transaction.atomic():
            # Rows that a draw holds are left to the next run: two transactions never wait for each other.
            keys = list(over.select_for_update(skip_locked=True).values_list("key", flat=True)[:_PURGED_AT_ONCE])
            removed += BudgetUse.objects.filter(key__in=keys).delete()[0]
        if len(keys) < _PURGED_AT_ONCE:
            return removed
