"""Answers of an account to a reminder that still have an effect: snoozed and skipped occurrences."""

import datetime as dt
from uuid import UUID

from django.db import models
from django.db.models import Q

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from notifications.notices.notice import NoticeKind
from people.models import ImportantDate, Person


class AnswerState(models.TextChoices):
    """SNOOZED: sent again at `due_at`, with which the row is deleted. SKIPPED: the occurrence is not sent any more."""

    SNOOZED = "snoozed"
    SKIPPED = "skipped"


class ReminderAnswer(OwnedModel):
    """The answer to one occurrence of an important date or of a person's contact reminder (one of the two is set).

    - `kind` and `lead_days` are those of the answered reminder.
    - A snoozed reminder is sent again at `due_at`, the reminder hour of the day `again_on`.
    - `round` is the number of that sending. No earlier delivery of the occurrence has it, so that the ledger takes the
      reminder for a new one.
    """

    important_date = models.ForeignKey(ImportantDate, null=True, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(Person, null=True, on_delete=models.CASCADE, related_name="+")
    occurrence_on = models.DateField()
    state = models.CharField(max_length=7, choices=AnswerState.choices)
    kind = models.CharField(max_length=30, choices=NoticeKind.choices)
    lead_days = models.PositiveSmallIntegerField(default=0)
    round = models.PositiveSmallIntegerField(default=0)
    again_on = models.DateField(null=True)
    due_at = models.DateTimeField(null=True)

    important_date_id: UUID | None
    person_id: UUID | None

    unscoped = UnscopedManager["ReminderAnswer", OwnedQuerySet["ReminderAnswer"]](OwnedQuerySet)
    objects = OwnedManager["ReminderAnswer", OwnedQuerySet["ReminderAnswer"]](OwnedQuerySet)

    class Meta:
        constraints = [
            one_of(AnswerState, "state", name="reminder_answer_state_known"),
            one_of(NoticeKind, "kind", name="reminder_answer_kind_known"),
            models.CheckConstraint(
                condition=Q(important_date=None, person__isnull=False) | Q(important_date__isnull=False, person=None),
                name="reminder_answer_of_one_source",
            ),
            models.CheckConstraint(
                condition=Q(state="snoozed", again_on__isnull=False, due_at__isnull=False)
                | Q(state="skipped", again_on=None, due_at=None),
                name="reminder_answer_due_when_snoozed",
            ),
            models.UniqueConstraint(fields=["important_date", "occurrence_on"], name="reminder_answer_once_a_date"),
            models.UniqueConstraint(fields=["person", "occurrence_on"], name="reminder_answer_once_a_person"),
        ]
        indexes = [models.Index(fields=["due_at"], name="reminder_answer_due", condition=Q(due_at__isnull=False))]

    @property
    def source_id(self) -> UUID:
        """The source as in Delivery.source_id."""
        source = self.important_date_id or self.person_id
        if source is None:
            raise ValueError("an answer is to an important date or about a person")
        return source

    def matches(self, kind: NoticeKind, lead_days: int) -> bool:
        """Whether this reminder of the occurrence was answered, rather than another one."""
        return (self.kind, self.lead_days) == (kind, lead_days)

    @property
    def resend_kind(self) -> NoticeKind:
        """The kind as which a snoozed reminder is sent again: from the day itself on, not as an advance notice."""
        is_lead = self.kind == NoticeKind.IMPORTANT_DATE_LEAD
        is_ahead = self.again_on is not None and self.again_on < self.occurrence_on
        return NoticeKind.IMPORTANT_DATE if is_lead and not is_ahead else NoticeKind(self.kind)

    @property
    def is_snoozed_to_the_day(self) -> bool:
        """Whether an advance notice was snoozed to the day itself, on which a reminder is sent anyway."""
        return self.kind == NoticeKind.IMPORTANT_DATE_LEAD and self.again_on == self.occurrence_on

    @property
    def key(self) -> tuple[UUID, dt.date]:
        """Source and day of the occurrence."""
        return self.source_id, self.occurrence_on
