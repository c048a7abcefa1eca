"""Outbound budgets of an account: how often it may make this service speak to strangers."""

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.errors import RateLimitedError
from notifications.models import BudgetDraw


@dataclass(frozen=True)
class Budget:
    """`limit` draws in any `window`."""

    name: str
    limit: int
    window: dt.timedelta

    def check(self, draws: Any, now: dt.datetime) -> None:
        """Raise RateLimitedError when the draws, a queryset, leave nothing; it says when there will be room."""
        recent = draws.filter(created_at__gt=now - self.window).order_by("-created_at")
        times = list(recent.values_list("created_at", flat=True)[: self.limit])
        if len(times) >= self.limit:
            raise RateLimitedError(math.ceil((times[-1] + self.window - now).total_seconds()))


CREATION = Budget("creation", 10, dt.timedelta(hours=1))
OUTBOUND = Budget("outbound", 25, dt.timedelta(minutes=15))
TESTS_PER_DESTINATION = Budget("outbound", 5, dt.timedelta(minutes=15))
KEPT = max(CREATION.window, OUTBOUND.window)


def draw(*, owner: User, budget: Budget, now: dt.datetime, subject: UUID | None = None) -> None:
    """Draw once on the account's budget, inside its turn; raises RateLimitedError and has then drawn nothing."""
    draws = BudgetDraw.objects.owned_by(owner).filter(budget=budget.name)
    if subject is not None:
        TESTS_PER_DESTINATION.check(draws.filter(subject=subject), now)
    budget.check(draws, now)
    draws.filter(created_at__lte=now - KEPT).delete()
    BudgetDraw.objects.create(owner=owner, budget=budget.name, subject=subject, created_at=now)
