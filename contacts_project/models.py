"""The tables of the kernel. Django looks for an app's models here."""

from contacts_project.kernel.budgets import BudgetUse
from contacts_project.kernel.daily_counts import DailyCount
from contacts_project.kernel.ownership.tombstones import Tombstone

__all__ = ["BudgetUse", "DailyCount", "Tombstone"]
