"""The schedule of recurring work. It is copied to the database after migrating; operators edit it in the admin.

What is there is left as it is, so an operator's change stays; a line that is new here is added.
"""

from dataclasses import dataclass
from typing import Any

from django_celery_beat.models import CrontabSchedule, PeriodicTask


@dataclass(frozen=True)
class Recurring:
    """One line: a task and when it runs, in UTC; the fields left out are `*`."""

    name: str
    task: str
    minute: str = "*"
    hour: str = "*"


SCHEDULE = (
    Recurring("Mails about accounts", "accounts.tasks.sweep_account_mails"),
    Recurring("Ends of sessions and accounts", "accounts.tasks.sweep_accounts", minute="37", hour="3"),
    Recurring("End of budgets' counts", "accounts.tasks.purge_budgets", minute="7"),
    Recurring("Address books that are due", "carddav.tasks.sweep"),
    Recurring("End of the address books' history", "carddav.tasks.purge_history", minute="47", hour="3"),
    Recurring("Due reminders and digests", "notifications.tasks.due_scan"),
    Recurring("End of the deliveries' history", "notifications.tasks.purge_deliveries", minute="27", hour="3"),
    Recurring("Counts of days", "contacts_project.operation.tasks.count_days", minute="11"),
    Recurring("Addresses for the geocoder", "people.tasks.geocode"),
    Recurring("Purge of what was deleted", "people.tasks.purge_deleted", minute="17", hour="3"),
)


def seed_schedule(**kwargs: Any) -> None:
    """Receiver of post_migrate."""
    if "plan" not in kwargs:
        return  # a flush between tests, not a migration
    for line in SCHEDULE:
        if not PeriodicTask.objects.filter(name=line.name).exists():
            crontab, _ = CrontabSchedule.objects.get_or_create(
                minute=line.minute, hour=line.hour, day_of_week="*", day_of_month="*", month_of_year="*", timezone="UTC"
            )
            PeriodicTask.objects.create(name=line.name, task=line.task, crontab=crontab)
