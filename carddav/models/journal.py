"""The journal of writes to the server. An intent is committed before its request."""

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH, MAX_UID_LENGTH, Mapping
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


class JournalOp(models.TextChoices):
    """The kind of write."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class JournalState(models.TextChoices):
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
