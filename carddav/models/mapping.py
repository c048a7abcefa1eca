"""Which card on the server is which person, and what both sides agreed on last."""

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person

MAX_KEY_LENGTH = 200
MAX_UID_LENGTH = 1000
MAX_ETAG_LENGTH = 500
#: As `Mapping.local_rev`: below every revision of an account, so something of the person is still to be sent.
UNSENT = -1


class MappingStatus(models.TextChoices):
    """What a card waits for."""

    CLEAN = "clean"
    DIRTY = "dirty"
    CONFLICT = "conflict"
    HELD = "held"
    QUARANTINED = "quarantined"


class Mapping(OwnedModel):
    """One card that is one person.

    `href` is as the server spelled it, `href_key` its form for comparing (carddav.client.href_key); while there is no
    card, `href` is the name under which it was sent, if any, and `href_key` is `new:` and the person. `remote_raw` is
    the card as last fetched, or empty. Two bases tell edits apart: `base_remote`, the fields of `remote_raw`, and
    `base_local`, the fields of the person when both sides last agreed; what a server drops or re-spells is thereby no
    edit of either.
    `local_rev` is the revision of the account then. A quarantined card was refused for its content, with `error`; it is
    sent again once what would be sent has another hash than `body_hash`. Where the server failed over it, `failures`
    runs in a row, it rests for a while instead (carddav.sync.failures). UIDs are not unique on servers.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    uid = models.CharField(max_length=MAX_UID_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: the card has none
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    remote_raw = models.TextField(blank=True)
    base_remote = models.JSONField(default=dict, blank=True)
    base_local = models.JSONField(default=dict, blank=True)
    local_rev = models.BigIntegerField(default=0)
    status = models.CharField(max_length=15, choices=MappingStatus.choices, default=MappingStatus.CLEAN)
    error = models.TextField(blank=True)
    body_hash = models.CharField(max_length=64, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)

    unscoped = UnscopedManager["Mapping", OwnedQuerySet["Mapping"]](OwnedQuerySet)
    objects = OwnedManager["Mapping", OwnedQuerySet["Mapping"]](OwnedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person"], name="carddav_mapping_of_person"),
            models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_mapping_of_card"),
        ]
        indexes = [
            models.Index(fields=["connection", "status"], name="carddav_mapping_status"),
            models.Index(fields=["connection", "uid"], name="carddav_mapping_uid"),
            models.Index(fields=["updated_at"], name="carddav_mapping_held", condition=models.Q(status="held")),
        ]


class Todo(OwnedModel):
    """A card that a listing named and nobody has fetched yet. The sync token may move on: this row stays."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known

    unscoped = UnscopedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)
    objects = OwnedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_todo_of_card")]


class TombstoneState(models.TextChoices):
    """What becomes of the card: it stays there, it is to be deleted there, or it is gone."""

    KEPT = "kept"
    TO_DELETE = "to_delete"
    GONE = "gone"


class Tombstone(OwnedModel):
    """A card whose person was deleted or that nobody wants: it is not offered as an import again.

    `etag` and `remote_raw` are as last seen, to tell an edit made there meanwhile. `person` is who it was, as long as
    there is the row.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    uid = models.CharField(max_length=MAX_UID_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: the card has none
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    remote_raw = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=TombstoneState.choices, default=TombstoneState.KEPT)

    unscoped = UnscopedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)
    objects = OwnedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_tombstone_of_card")]
        indexes = [
            models.Index(
                fields=["connection"], name="carddav_tombstone_to_delete", condition=models.Q(state="to_delete")
            ),
        ]
