"""What is sent and when: deliveries with their metrics, answers to reminders, the next digest, and heartbeats."""

import datetime as dt
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.metrics import Counter
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.vocabularies import Vocabulary
from notifications.notices.notice import NoticeKind
from people.models import ImportantDate, Person

# A run for a past time (`--now`) writes that time to `planned_at`: further than this behind `created_at`, it is one.
_BACKFILL_AGE = dt.timedelta(minutes=5)


class DeliveryState(Vocabulary):
    """PENDING waits for its first attempt or a retry, and only then `next_try_at` is set. SENDING is claimed by a
    worker. SENT, FAILED and SKIPPED are final."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"


class DeliveryQuerySet(LeaseQuerySet["Delivery"], OwnedQuerySet["Delivery"]):  # type: ignore[override]  # as_manager
    def due(self, now: dt.datetime) -> "DeliveryQuerySet":
        """Those whose first attempt or retry is due at `now`."""
        return self.filter(next_try_at__lte=now)

    def not_backfilled(self) -> "DeliveryQuerySet":
        """Those that the worker sends. A delivery planned by a run for a past time (`--now`) is left to such runs."""
        return self.filter(planned_at__gt=F("created_at") - _BACKFILL_AGE)

    def unqueued(self, clock: dt.datetime) -> "DeliveryQuerySet":
        """Those that are in no task queue at `clock`, as far as the database knows."""
        return self.filter(Q(held_until=None) | Q(held_until__lte=clock))

    def with_owner_and_person(self) -> "DeliveryQuerySet":
        """Join the owner, and of the person the columns that a notice needs."""
        deferred = (f"person__{column}" for column in Person.HEAVY_COLUMNS)
        return self.select_related("owner", "person").defer(*deferred)


class Delivery(Leased, OwnedModel):
    """One notice to one target. The table is the outbox, the retry queue and the history at once.

    A row is unique per source, occurrence, kind, lead days, round, channel and target.

    - `source_id` is an important date, a person (contact reminder) or the account (digest, whose `occurrence_on` is the
      Monday of its ISO week).
    - `channel` is empty where nothing could be sent at all; `code` then has the reason.
    - `content` is the notice's content. It does not change after the first attempt.
    - `round` is 0, or counts how often the account snoozed the occurrence (ReminderAnswer).
    - `answers` lists the account's answers in order: `{ kind, days?, at }`.
    - `code` is the last failure code, or the reason of a skip.
    - `claim` is set while a worker sends the delivery; `claims` counts how often one was taken. `held_until` with a
      claim is the end of the lease. Without a claim the delivery is in a task queue, which has until then to start it.

    `due_at`, `next_try_at` and `expires_at` follow the time that the run was given (`--now`); leases follow the
    machine's clock.
    """

    kind = models.CharField(max_length=30, choices=NoticeKind.choices)
    source_id = models.UUIDField()
    person = models.ForeignKey(Person, null=True, on_delete=models.CASCADE, related_name="+")
    occurrence_on = models.DateField()
    lead_days = models.PositiveSmallIntegerField(default=0, db_default=0)
    round = models.PositiveSmallIntegerField(default=0, db_default=0)
    channel = models.CharField(max_length=10, blank=True)
    target_key = models.CharField(max_length=64, blank=True)
    label = models.CharField(max_length=254, blank=True)
    content = models.JSONField(default=dict)
    answers = models.JSONField(default=list, db_default=[])

    state = models.CharField(max_length=7, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    code = models.CharField(max_length=30, blank=True)
    late = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    claims = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    planned_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    first_tried_at = models.DateTimeField(null=True, blank=True)
    next_try_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    person_id: UUID | None

    unscoped = UnscopedManager["Delivery", DeliveryQuerySet](DeliveryQuerySet)
    objects = OwnedManager["Delivery", DeliveryQuerySet](DeliveryQuerySet)

    @property
    def notice_key(self) -> tuple[UUID, dt.date, str, int, int]:
        """Identifies the notice. Every target gets it once (`delivery_once`)."""
        return self.source_id, self.occurrence_on, self.kind, self.lead_days, self.round

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            one_of(NoticeKind, "kind", name="delivery_kind_known"),
            one_of(DeliveryState, "state", name="delivery_state_known"),
            # The last defence against sending twice, should two plans ever run without the account's lock.
            models.UniqueConstraint(
                fields=["source_id", "occurrence_on", "kind", "lead_days", "round", "channel", "target_key"],
                name="delivery_once",
            ),
        ]
        indexes = [
            models.Index(fields=["next_try_at"], name="delivery_waiting", condition=Q(next_try_at__isnull=False)),
            models.Index(fields=["held_until"], name="delivery_held", condition=Q(held_until__isnull=False)),
            models.Index(fields=["owner", "planned_at", "id"], name="delivery_history"),
            models.Index(fields=["planned_at"], name="delivery_old"),
            # For the admin: how the deliveries of a day ended, and those that did not arrive.
            models.Index(
                fields=["updated_at", "channel", "state", "code"],
                name="delivery_ended",
                condition=Q(ended_at__isnull=False),
            ),
            models.Index(
                fields=["state", "planned_at"],
                name="delivery_undelivered",
                condition=Q(state__in=["failed", "skipped"]),
            ),
            models.Index(fields=["code", "planned_at"], name="delivery_code", condition=~Q(code="")),
            models.Index(fields=["channel", "planned_at"], name="delivery_channel", condition=~Q(channel="email")),
        ]


class AnswerState(Vocabulary):
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


class DigestSchedule(models.Model):
    """One account with the digest switched on: when the next digest is due, and its day in the account's time zone."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+")
    next_due_at = models.DateTimeField(db_index=True)
    next_on = models.DateField()


class Heartbeat(models.Model):
    """One kind of recurring work, and when it last completed. Belongs to the instance, not to an account."""

    name = models.CharField(max_length=40, primary_key=True)
    beat_at = models.DateTimeField()


def record_heartbeat(name: str, now: dt.datetime) -> None:
    """Record that `name` has just completed."""
    Heartbeat.objects.update_or_create(name=name, defaults={"beat_at": now})


def last_heartbeat(name: str) -> dt.datetime | None:
    """When `name` last completed; None before its first run."""
    return Heartbeat.objects.filter(name=name).values_list("beat_at", flat=True).first()


DELIVERIES = Counter(
    "contacts_deliveries_total",
    "Deliveries that came to a state: planned (pending), sent, failed, skipped.",
    ("channel", "state"),
)
DELIVERY_FAILURES = Counter("contacts_delivery_failures_total", "Tries that failed, by reason.", ("channel", "code"))


def count_deliveries(channel: str, state: str, number: int = 1) -> None:
    """Count deliveries that reached a state. An empty channel means that there was none to send over."""
    DELIVERIES.count(channel or "none", str(state), number=number)
