"""The models of the kernel: it is no Django app, so they belong to this one."""

from contacts_project.kernel.models import BudgetUse, DailyCount, PendingMessage
from contacts_project.kernel.ownership.models import Tombstone

__all__ = ["BudgetUse", "DailyCount", "PendingMessage", "Tombstone"]
