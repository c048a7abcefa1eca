"""Rate limits: a `Budget` allows a number of draws per subject (an address, an account) in a sliding window.

Draws are stored in rows of the database: all processes share the count, it survives a restart, and unlike in a cache no
entry evicts another. `purge_budgets` removes expired rows. A `CachedBudget` counts in the cache instead, with
django-ratelimit; it is approximate, because a cache may evict entries.
"""

import datetime as dt
import math
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_ratelimit.core import get_usage

from contacts_project.kernel.errors import RateLimitedError
from contacts_project.kernel.models import BudgetUse

_PURGE_BATCH_SIZE = 500


@dataclass(frozen=True)
class Budget:
    """`limit` draws in any period of `seconds`. Refused draws do not count."""

    name: str
    limit: int
    seconds: int

    def draw(self, subject: str, *, drawn_for: str = "") -> None:
        """Count a draw, before the limited action, so that concurrent calls cannot exceed it. Raises RateLimitedError.

        A rollback of the surrounding transaction undoes the draw. `drawn_for` is a key for `forget_draws`.
        """
        key, now = _key(self.name, subject), timezone.now()
        if use := BudgetUse.objects.filter(key=key).first():
            self._recent(use, now)  # checked before the upsert, so that refused draws write nothing
        with transaction.atomic():
            # The upsert locks the row until the end of the transaction (on SQLite: the whole database).
            fresh = BudgetUse(key=key, ends_at=now + dt.timedelta(seconds=self.seconds))
            BudgetUse.objects.bulk_create(
                [fresh], update_conflicts=True, unique_fields=["key"], update_fields=["ends_at"]
            )
            use = BudgetUse.objects.get(key=key)
            use.drawn_at = [*self._recent(use, now), now.timestamp()]
            use.drawn_for = _key("for", drawn_for) if drawn_for else ""
            use.save(update_fields=["drawn_at", "drawn_for"])

    def give_back(self, subject: str) -> None:
        """Undo the last draw, if the action turns out not to count."""
        with transaction.atomic():
            use = BudgetUse.objects.select_for_update().filter(key=_key(self.name, subject)).first()
            if use is not None:
                use.drawn_at = use.drawn_at[:-1]
                use.save(update_fields=["drawn_at"])

    def clear(self, subject: str) -> None:
        """Delete all draws of the subject."""
        BudgetUse.objects.filter(key=_key(self.name, subject)).delete()

    def _recent(self, use: BudgetUse, now: dt.datetime) -> list[float]:
        """Return the draws inside the window. Raises RateLimitedError, with the seconds to wait, if it is full."""
        times = [drawn for drawn in use.drawn_at if drawn > now.timestamp() - self.seconds]
        if len(times) >= self.limit:
            raise RateLimitedError(math.ceil(times[-self.limit] + self.seconds - now.timestamp()))
        return times


@dataclass(frozen=True)
class CachedBudget:
    """`limit` draws in each fixed window of `seconds`, for cheap actions that should not write to the database."""

    name: str
    limit: int
    seconds: int

    def draw(self, subject: str) -> None:
        """Count one draw. Raises RateLimitedError."""
        key, rate = _key(self.name, subject), f"{self.limit}/{self.seconds}s"
        usage = get_usage(None, group=self.name, key=lambda *_: key, rate=rate, increment=True)
        if usage and usage["should_limit"]:
            raise RateLimitedError(usage["time_left"])


def forget_draws(drawn_for: str) -> None:
    """Delete the draws of all subjects whose last draw was made with this `drawn_for`."""
    BudgetUse.objects.filter(drawn_for=_key("for", drawn_for)).delete()


def _key(name: str, subject: str) -> str:
    return salted_hmac(f"budget.{name}", subject, algorithm="sha256").hexdigest()


def purge_budgets(*, now: dt.datetime) -> int:
    """Delete expired rows, and return their number."""
    expired = BudgetUse.objects.filter(ends_at__lt=now)
    removed = 0
    while True:
        with transaction.atomic():
            # Rows that a draw has locked are left to the next run, so that no two transactions wait for each other.
            keys = list(expired.select_for_update(skip_locked=True).values_list("key", flat=True)[:_PURGE_BATCH_SIZE])
            removed += BudgetUse.objects.filter(key__in=keys).delete()[0]
        if len(keys) < _PURGE_BATCH_SIZE:
            return removed
