"""The ledger: one row for each thing that was told, or could not be, over one destination."""

import datetime as dt
from uuid import UUID

from django.db import models
from django.db.models import F, Q

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from notifications.notices.notice import NoticeKind
from people.models import Person

_BEHIND = dt.timedelta(minutes=5)


class DeliveryState(models.TextChoices):
    """PENDING waits for its (next) try and alone has `next_try_at`, SENDING is being tried, the others are ends."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"


class DeliveryQuerySet(LeaseQuerySet["Delivery"], OwnedQuerySet["Delivery"]):  # type: ignore[override]  # as_manager
    """Deliveries."""

    def waiting(self, now: dt.datetime) -> "DeliveryQuerySet":
        """Those whose next try is due at `now`."""
        return self.filter(next_try_at__lte=now)

    def by_the_clock(self) -> "DeliveryQuerySet":
        """Those that are the worker's. What a run for a past time (`--now`) planned is for such runs to try."""
        return self.filter(planned_at__gt=F("created_at") - _BEHIND)

    def unqueued(self, clock: dt.datetime) -> "DeliveryQuerySet":
        """Those that no queue was given lately."""
        return self.filter(Q(held_until=None) | Q(held_until__lte=clock))


class Delivery(Leased, OwnedModel):
    """One (source, occurrence, kind, lead days, round, destination), made when it is due; the database has it once.

    The source is an important date, a person (contact) or the account (digest, with the Monday of its ISO week as
    occurrence). Without a `channel` the row says why nothing was sent at all. `content` is what a notice holds, fixed
    at the first try. `round` is 0, and higher where the account had it sent again (ReminderAnswer); `answers` are what
    it said since, in that order: `{ kind, days?, at }`. `code` is the last failure or the reason of a skip. Who sends
    it holds the lease, and `claims` counts the leases taken; `held_until` without a claim says until when the queue
    that was given it may take.
    Times of the plan (`due_at`, `next_try_at`, `expires_at`) follow the clock that the run was given, leases the
    machine's.
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
    def once(self) -> tuple[UUID, dt.date, str, int, int]:
        """What is told once over each destination."""
        return self.source_id, self.occurrence_on, self.kind, self.lead_days, self.round

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            one_of(NoticeKind, "kind", name="delivery_kind_known"),
            one_of(DeliveryState, "state", name="delivery_state_known"),
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
            # What operators look at: how those of a day ended, and those that did not arrive.
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
