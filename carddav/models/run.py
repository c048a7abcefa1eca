"""Sync runs and what they changed; the journal of writes to the server: an intent is committed before its request."""

from django.db import models
from django.utils import timezone

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH, MAX_UID_LENGTH, Mapping
from contacts_project.kernel.database.columns import StoredTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.texts import Text
from contacts_project.kernel.vocabularies import Vocabulary
from people.models import Person


class RunTrigger(Vocabulary):
    """What started the run."""

    MANUAL = "manual"
    AUTOMATIC = "automatic"
    CRON = "cron"
    COMMAND = "command"


class RunState(Vocabulary):
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
    trigger = models.CharField(max_length=10, choices=RunTrigger.choices)
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
    error = StoredTextField(blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    phase = models.CharField(max_length=20, blank=True)
    message = StoredTextField(blank=True)
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

    @property
    def messages(self) -> list[Text]:
        """What failed while the rest went on."""
        return [Text.from_stored(message) for message in self.error_messages]


class RunAction(Vocabulary):
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


class JournalOp(Vocabulary):
    """The kind of write."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class JournalState(Vocabulary):
    """PREPARED: the outcome is unknown. DONE: written, and not read back yet."""

    PREPARED = "prepared"
    DONE = "done"


class JournalEntry(OwnedModel):
    """One write to the server. While it is PREPARED its outcome is unknown, and the next run asks the server first.

    `body` is the text to be sent; in state DONE it is the card that was replaced. `body_hash` is the SHA-256 of the
    text without its REV. `fields` are the person's fields in it and `local_rev` the account's revision: they become
    base_local and local_rev of the mapping once the write has succeeded. A create that is not found at its href stays
    PREPARED and is sent again unchanged, since the first request may still arrive.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    mapping = models.ForeignKey(Mapping, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    op = models.CharField(max_length=10, choices=JournalOp.choices)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    uid = models.CharField(max_length=MAX_UID_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    if_match = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: a create
    body = models.TextField(blank=True)
    body_hash = models.CharField(max_length=64, blank=True)
    fields = models.JSONField(default=dict, blank=True)
    local_rev = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=JournalState.choices, default=JournalState.PREPARED)

    unscoped = UnscopedManager["JournalEntry", OwnedQuerySet["JournalEntry"]](OwnedQuerySet)
    objects = OwnedManager["JournalEntry", OwnedQuerySet["JournalEntry"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "href_key"],
                name="carddav_journal_of_card",
                condition=models.Q(state="prepared"),
            ),
            # No second write while the outcome of one is unknown; so a contact cannot get two new cards.
            models.UniqueConstraint(
                fields=["mapping"],
                name="carddav_journal_of_contact",
                condition=models.Q(state="prepared"),
            ),
        ]
        indexes = [models.Index(fields=["connection", "state"], name="carddav_journal_state")]
