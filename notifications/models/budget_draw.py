"""What an account has used of its outbound budgets."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class BudgetDraw(OwnedModel):
    """One draw on a budget at `created_at`; `subject` is the destination a test went to, if it was one.

    Rows and not counters in a cache: they are counted inside the account's turn, so a limit holds exactly under
    concurrent requests, over a sliding window, over restarts and any number of processes.
    """

    budget = models.CharField(max_length=20)
    subject = models.UUIDField(null=True, blank=True)

    unscoped = UnscopedManager["BudgetDraw", OwnedQuerySet["BudgetDraw"]](OwnedQuerySet)
    objects = OwnedManager["BudgetDraw", OwnedQuerySet["BudgetDraw"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "budget", "created_at"], name="budget_draw_owner")]
