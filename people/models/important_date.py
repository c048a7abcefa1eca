"""Important dates of people, with their reminders."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models.person import Person
from people.vocabularies import DateType, ReminderKind, ReminderType, Unit

YEAR_UNKNOWN = 1604
"""The year stored where only month and day are known: a leap year, so that 29 February fits."""


class MonthDay(models.Func):
    """Month and day of a date as one number, such as 1210 for 10 December, so that yearly dates sort by day."""

    arity = 1
    output_field = models.SmallIntegerField()
    template = "CAST(substr(%(expressions)s, 6, 2) || substr(%(expressions)s, 9, 2) AS integer)"

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        template = "CAST(EXTRACT(MONTH FROM %(expressions)s) * 100 + EXTRACT(DAY FROM %(expressions)s) AS smallint)"
        return self.as_sql(compiler, connection, template=template, **context)


class ImportantDate(TrashModel):
    """One important date of a person. With `year_unknown` the stored year is 1604.

    `extra_lead_days` are the lead days of additional advance reminders, all different. `next_due_at` is the instant of
    the next reminder, or null if there is none; `next_occurrence_on`, `next_kind` and `next_lead_days` identify that
    reminder (people.dates.schedule). They are computed in the same transaction as any write that changes them.
    """

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="important_dates")
    type = models.CharField(max_length=11, choices=DateType.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    title = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - as above
    date = models.DateField()
    month_day = models.GeneratedField(
        expression=MonthDay("date"), output_field=models.SmallIntegerField(), db_persist=True
    )
    year_unknown = models.BooleanField(default=False)
    reminder_enabled = models.BooleanField(default=False)
    reminder_type = models.CharField(max_length=9, choices=ReminderType.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    reminder_interval = models.PositiveSmallIntegerField(null=True, blank=True)
    reminder_interval_unit = models.CharField(max_length=6, choices=Unit.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    reminder_lead_days = models.PositiveSmallIntegerField(null=True, blank=True)
    extra_lead_days = models.JSONField(default=list, blank=True)
    next_due_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_occurrence_on = models.DateField(null=True, blank=True, editable=False)
    next_kind = models.CharField(max_length=4, choices=ReminderKind.choices, default="", blank=True, editable=False)
    next_lead_days = models.PositiveSmallIntegerField(default=0, editable=False)

    FEED_TYPE = "importantDate"
    QUIET_COLUMNS = frozenset({"next_due_at", "next_occurrence_on", "next_kind", "next_lead_days"})

    unscoped = UnscopedManager["ImportantDate", TrashQuerySet["ImportantDate"]](TrashQuerySet)
    objects = OwnedManager["ImportantDate", TrashQuerySet["ImportantDate"]](TrashQuerySet)

    class Meta:
        constraints = [
            one_of(DateType, "type", name="important_date_type_known"),
            one_of(ReminderType, "reminder_type", name="important_date_reminder_type_known"),
            one_of(Unit, "reminder_interval_unit", name="important_date_reminder_interval_unit_known"),
            one_of(ReminderKind, "next_kind", name="important_date_next_kind_known", blank=True),
            models.UniqueConstraint(
                fields=["person", "type"],
                name="important_date_type_once",
                condition=models.Q(deleted_at=None, type__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="important_date_feed"),
            models.Index(fields=["owner", "person"], name="important_date_owner"),
            # Not a partial index of active dates: without statistics PostgreSQL assumes that those are few, and scans
            # all of them.
            models.Index(fields=["owner", "month_day"], name="important_date_of_year"),
            models.Index(fields=["owner", "date"], name="important_date_ahead"),
            # For the purge and the admin, over all accounts.
            models.Index(
                fields=["owner", "deleted_at"],
                name="important_date_trash",
                condition=models.Q(deleted_at__isnull=False),
            ),
            # A separate index, because with important_date_of_year SQLite would also read the birthdays of these days.
            models.Index(
                fields=["owner", "month_day"],
                name="important_date_own_rule",
                condition=models.Q(deleted_at=None, type=None, reminder_enabled=True),
            ),
            models.Index(
                fields=["next_due_at"],
                name="important_date_due",
                condition=models.Q(next_due_at__isnull=False),
            ),
        ]
