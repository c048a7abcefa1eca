"""Rate limits: a `RateLimit` allows a number of hits per subject (an address, an account) in a sliding window.

Hits are stored in rows of the database: all processes share the count, it survives a restart, and unlike in a cache no
entry evicts another. `purge_expired` removes expired rows. A `CachedRateLimit` counts in the cache instead, with
django-ratelimit; it is approximate, because a cache may evict entries.
"""

import datetime as dt
import math
from dataclasses import dataclass

from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_ratelimit.core import get_usage

from contacts_project.kernel.errors import RateLimitedError

_PURGE_BATCH_SIZE = 500


class BudgetUse(models.Model):
    """The hits of one subject on one rate limit. None of them counts after `ends_at`."""

    # A keyed hash of rate limit and subject, so that no mail or IP addresses are stored.
    key = models.CharField(max_length=64, primary_key=True)
    drawn_at = models.JSONField(default=list)  # Unix times, oldest first; at most `limit` of the rate limit
    ends_at = models.DateTimeField(db_index=True)
    # A keyed hash of `hit_for` of the last hit, by which `forget_hits` finds the row; empty if there was none.
    drawn_for = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["drawn_for"], name="budget_drawn_for", condition=~models.Q(drawn_for="")),
        ]


@dataclass(frozen=True)
class RateLimit:
    """`limit` hits in any period of `seconds`. Refused hits do not count."""

    name: str
    limit: int
    seconds: int

    def hit(self, subject: str, *, hit_for: str = "") -> None:
        """Count a hit, before the limited action, so that concurrent calls cannot exceed it. Raises RateLimitedError.

        A rollback of the surrounding transaction undoes the hit. `hit_for` is a key for `forget_hits`.
        """
        key, now = _key(self.name, subject), timezone.now()
        if use := BudgetUse.objects.filter(key=key).first():
            self._recent(use, now)  # checked before the upsert, so that refused hits write nothing
        with transaction.atomic():
            # The upsert locks the row until the end of the transaction (on SQLite: the whole database).
            fresh = BudgetUse(key=key, ends_at=now + dt.timedelta(seconds=self.seconds))
            BudgetUse.objects.bulk_create(
                [fresh], update_conflicts=True, unique_fields=["key"], update_fields=["ends_at"]
            )
            use = BudgetUse.objects.get(key=key)
            use.drawn_at = [*self._recent(use, now), now.timestamp()]
            use.drawn_for = _key("for", hit_for) if hit_for else ""
            use.save(update_fields=["drawn_at", "drawn_for"])

    def undo(self, subject: str) -> None:
        """Undo the last hit, if the action turns out not to count."""
        with transaction.atomic():
            use = BudgetUse.objects.select_for_update().filter(key=_key(self.name, subject)).first()
            if use is not None:
                use.drawn_at = use.drawn_at[:-1]
                use.save(update_fields=["drawn_at"])

    def clear(self, subject: str) -> None:
        """Delete all hits of the subject."""
        BudgetUse.objects.filter(key=_key(self.name, subject)).delete()

    def _recent(self, use: BudgetUse, now: dt.datetime) -> list[float]:
        """Return the hits inside the window. Raises RateLimitedError, with the seconds to wait, if it is full."""
        times = [drawn for drawn in use.drawn_at if drawn > now.timestamp() - self.seconds]
        if len(times) >= self.limit:
            raise RateLimitedError(math.ceil(times[-self.limit] + self.seconds - now.timestamp()))
        return times


@dataclass(frozen=True)
class CachedRateLimit:
    """`limit` hits in each fixed window of `seconds`, for cheap actions that should not write to the database."""

    name: str
    limit: int
    seconds: int

    def hit(self, subject: str) -> None:
        """Count one hit. Raises RateLimitedError."""
        key, rate = _key(self.name, subject), f"{self.limit}/{self.seconds}s"
        usage = get_usage(None, group=self.name, key=lambda *_: key, rate=rate, increment=True)
        if usage and usage["should_limit"]:
            raise RateLimitedError(usage["time_left"])


def forget_hits(hit_for: str) -> None:
    """Delete the hits of all subjects whose last hit was made with this `hit_for`."""
    BudgetUse.objects.filter(drawn_for=_key("for", hit_for)).delete()


def _key(name: str, subject: str) -> str:
    return salted_hmac(f"budget.{name}", subject, algorithm="sha256").hexdigest()


def purge_expired(*, now: dt.datetime) -> int:
    """Delete expired rows, and return their number."""
    expired = BudgetUse.objects.filter(ends_at__lt=now)
    removed = 0
    while True:
        with transaction.atomic():
            # Rows that a hit has locked are left to the next run, so that no two transactions wait for each other.
            keys = list(expired.select_for_update(skip_locked=True).values_list("key", flat=True)[:_PURGE_BATCH_SIZE])
            removed += BudgetUse.objects.filter(key__in=keys).delete()[0]
        if len(keys) < _PURGE_BATCH_SIZE:
            return removed
