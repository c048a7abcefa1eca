"""The schedule of periodic tasks. After each migration new ones are copied to the database.

Rows that exist are not changed: operators edit them in the admin.
"""

from dataclasses import dataclass

from django_celery_beat.models import CrontabSchedule, PeriodicTask


@dataclass(frozen=True)
class ScheduledTask:
    """A task and when it runs: crontab fields in UTC. The name identifies its row in the database."""

    name: str
    task: str
    minute: str = "*"
    hour: str = "*"


SCHEDULE = (
    ScheduledTask("Mails about accounts", "accounts.tasks.sweep_account_mails"),
    ScheduledTask("Ends of sessions and accounts", "accounts.tasks.sweep_accounts", minute="37", hour="3"),
    ScheduledTask("End of budgets' counts", "accounts.tasks.purge_budgets", minute="7"),
    ScheduledTask("Address books that are due", "carddav.tasks.sweep"),
    ScheduledTask("End of the address books' history", "carddav.tasks.purge_history", minute="47", hour="3"),
    ScheduledTask("Calendars that are due", "meetings.tasks.sweep"),
    ScheduledTask("Shared people", "sharing.tasks.sweep"),
    ScheduledTask("Due reminders and digests", "notifications.tasks.due_scan"),
    ScheduledTask("End of the deliveries' history", "notifications.tasks.purge_deliveries", minute="27", hour="3"),
    ScheduledTask("Counts of days", "contacts_project.operation.tasks.count_days", minute="11"),
    ScheduledTask("Addresses for the geocoder", "people.tasks.geocode"),
    ScheduledTask("Next days of dates", "people.tasks.refresh_next_dates"),
    ScheduledTask("End of shares' history", "sharing.tasks.purge", minute="57", hour="3"),
    ScheduledTask("Invitations to shares", "sharing.tasks.send_invitations"),
    ScheduledTask("Purge of what was deleted", "people.tasks.purge_deleted", minute="17", hour="3"),
)


def seed_schedule(**kwargs: object) -> None:
    """Receiver of post_migrate: add the tasks that are missing in the database."""
    if "plan" not in kwargs:
        return  # sent by a flush between tests, not by a migration
    for scheduled in SCHEDULE:
        if not PeriodicTask.objects.filter(name=scheduled.name).exists():
            crontab, _ = CrontabSchedule.objects.get_or_create(
                minute=scheduled.minute,
                hour=scheduled.hour,
                day_of_week="*",
                day_of_month="*",
                month_of_year="*",
                timezone="UTC",
            )
            PeriodicTask.objects.create(name=scheduled.name, task=scheduled.task, crontab=crontab)
