"""Days with people: important dates with their reminders, and interactions (calls, meetings, letters)."""

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.database.expressions import Sql
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.mentions import Silence, topic_of
from people.models.person import Person
from people.vocabularies import DateType, InteractionKind, ReminderKind, ReminderType, Unit

YEAR_UNKNOWN = 1604
"""The year stored where only month and day are known: a leap year, so that 29 February fits."""


class MonthDay(models.Func):
    """Month and day of a date as one number, such as 1210 for 10 December, so that yearly dates sort by day."""

    arity = 1
    output_field = models.SmallIntegerField()
    template = "CAST(substr(%(expressions)s, 6, 2) || substr(%(expressions)s, 9, 2) AS integer)"

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        template = "CAST(EXTRACT(MONTH FROM %(expressions)s) * 100 + EXTRACT(DAY FROM %(expressions)s) AS smallint)"
        return self.as_sql(compiler, connection, template=template)


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

    @property
    def is_once_without_year(self) -> bool:
        """Whether its reminder comes once, on the first such day since it was set. The year is in no column."""
        return self.year_unknown and self.reminder_type == ReminderType.ONCE

    def silence(self) -> Silence | None:
        """Why nobody is reminded of it; None if somebody is."""
        return self.person.silence(topic_of(self.type))

    FEED_TYPE = "importantDate"
    UNREVISED_COLUMNS = frozenset({"next_due_at", "next_occurrence_on", "next_kind", "next_lead_days"})

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


class InteractionQuerySet(TrashQuerySet["Interaction"]):
    """Interactions of one account, or of all for tasks."""

    def with_active_people(self) -> "InteractionQuerySet":
        """Interactions with at least one active person; the others are treated as deleted with their people."""
        active = Participation.unscoped.rows().filter(interaction=models.OuterRef("pk"), person__deleted_at=None)
        return self.filter(models.Exists(active))

    def of_people(self, person_ids: object) -> "InteractionQuerySet":
        """Interactions in which any of these people took part, active or deleted."""
        participations = Participation.unscoped.rows().filter(interaction=models.OuterRef("pk"), person__in=person_ids)
        return self.filter(models.Exists(participations))


class Interaction(TrashModel):
    """One past or future interaction, `at` an instant, with one or more people (Participation).

    `counts_at` is the instant at which the day of a future interaction begins in the account's time zone. From then on
    it can be the last contact of its people (people.services.last_contact). Null: it counts already, or is deleted.
    """

    owner = owner_without_index()
    kind = models.CharField(max_length=7, choices=InteractionKind.choices)
    at = models.DateTimeField()
    title = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    notes = models.TextField(max_length=10_000, null=True, blank=True)  # noqa: DJ001 - as above
    counts_at = models.DateTimeField(null=True, blank=True, editable=False)

    FEED_TYPE = "interaction"
    UNREVISED_COLUMNS = frozenset({"counts_at"})

    unscoped = UnscopedManager["Interaction", InteractionQuerySet](InteractionQuerySet)
    objects = OwnedManager["Interaction", InteractionQuerySet](InteractionQuerySet)

    class Meta:
        constraints = [one_of(InteractionKind, "kind", name="interaction_kind_known")]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="interaction_feed"),
            models.Index(fields=["owner", "at", "id"], name="interaction_list"),
            models.Index(
                fields=["owner", "deleted_at"], name="interaction_trash", condition=models.Q(deleted_at__isnull=False)
            ),
            models.Index(fields=["counts_at"], name="interaction_ahead", condition=models.Q(counts_at__isnull=False)),
        ]


class Participation(OwnedModel):
    """One person in one interaction; `position` is the index in `personIds`.

    `at` is a copy of Interaction.at, so that a person's latest interaction is the last entry of an index.
    """

    owner = owner_without_index()
    interaction = models.ForeignKey(
        Interaction, on_delete=models.CASCADE, related_name="participations", db_index=False
    )
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="participations")
    position = models.PositiveSmallIntegerField()
    at = models.DateTimeField()

    unscoped = UnscopedManager["Participation", OwnedQuerySet["Participation"]](OwnedQuerySet)
    objects = OwnedManager["Participation", OwnedQuerySet["Participation"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["interaction", "person"], name="participation_once")]
        indexes = [models.Index(fields=["owner", "person", "at", "interaction"], name="participation_of_person")]
