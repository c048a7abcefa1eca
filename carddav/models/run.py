"""Sync runs and what they changed."""

from django.db import models
from django.utils import timezone

from carddav.models.connection import Connection
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


class Trigger(models.TextChoices):
    """What started the run."""

    MANUAL = "manual"
    AUTOMATIC = "automatic"
    CRON = "cron"
    COMMAND = "command"


class RunState(models.TextChoices):
    """A connection has at most one run of each kind (dry or not) that has not ended."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


#: The columns of a Run that are counts.
RUN_COUNTS = ("imported", "exported", "updated_locally", "updated_remotely", "conflicts", "errors", "pending_imports")


class Run(OwnedModel):
    """One sync run: its counts, and while it goes on its progress, which streams read.

    `code` is the API's error code, empty on success; `error` is the message. `undone_at`: the local changes were
    reverted.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    dry_run = models.BooleanField(default=False)
    confirmed = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.QUEUED)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    imported = models.PositiveIntegerField(default=0)
    exported = models.PositiveIntegerField(default=0)
    updated_locally = models.PositiveIntegerField(default=0)
    updated_remotely = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    error_messages = models.JSONField(default=list, blank=True)
    pending_imports = models.PositiveIntegerField(default=0)
    code = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    phase = models.CharField(max_length=20, blank=True)
    message = models.TextField(blank=True)
    current = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)

    unscoped = UnscopedManager["Run", OwnedQuerySet["Run"]](OwnedQuerySet)
    objects = OwnedManager["Run", OwnedQuerySet["Run"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                # A real run may be queued beside a dry one; the connection's lock serialises them.
                fields=["connection", "dry_run"],
                name="carddav_run_at_a_time",
                condition=~models.Q(state="ended"),
            ),
        ]
        indexes = [
            models.Index(fields=["connection", "started_at"], name="carddav_run_history"),
            models.Index(fields=["started_at"], name="carddav_run_age"),
            models.Index(
                fields=["ended_at", "code", "started_at"],
                name="carddav_run_ended",
                condition=models.Q(ended_at__isnull=False),
            ),
            # Filters of the operator's list in the admin.
            models.Index(fields=["started_at"], name="carddav_run_failed", condition=~models.Q(code="")),
            models.Index(
                fields=["trigger", "started_at"], name="carddav_run_asked_for", condition=~models.Q(trigger="automatic")
            ),
        ]


class RunAction(models.TextChoices):
    """What a run did to a person."""

    CREATED = "created"
    UPDATED = "updated"
    TRASHED = "trashed"


class RunChange(OwnedModel):
    """A person that a run changed: `image` has the former values, `revision` is the person's revision after the change.

    `photo` is the file that the run replaced or removed; it is kept as long as this row.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="changes", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    action = models.CharField(max_length=10, choices=RunAction.choices)
    image = models.JSONField(default=dict, blank=True)
    revision = models.BigIntegerField(default=0)
    photo = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - as Person.photo

    unscoped = UnscopedManager["RunChange", OwnedQuerySet["RunChange"]](OwnedQuerySet)
    objects = OwnedManager["RunChange", OwnedQuerySet["RunChange"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "person"], name="carddav_change_of_person")]
        indexes = [
            models.Index(
                fields=["owner", "photo"], name="carddav_change_photo", condition=models.Q(photo__isnull=False)
            ),
        ]
