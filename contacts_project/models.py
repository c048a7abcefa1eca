"""The models of the kernel: it is no Django app, so they belong to this one."""

from contacts_project.kernel.budgets import BudgetUse
from contacts_project.kernel.daily_counts import DailyCount
from contacts_project.kernel.ownership.tombstones import Tombstone

__all__ = ["BudgetUse", "DailyCount", "Tombstone"]
