"""Which card on the server belongs to which person, and the state on which both sides last agreed."""

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person

MAX_KEY_LENGTH = 200
MAX_UID_LENGTH = 1000
MAX_ETAG_LENGTH = 500
#: A value of `Mapping.local_rev` below every revision: the person has unsent changes.
UNSENT = -1


class MappingStatus(models.TextChoices):
    """CLEAN; DIRTY: to be sent; CONFLICT: fields in conflict; HELD: the card is gone, and the user has to decide;
    QUARANTINED: the server refuses the card."""

    CLEAN = "clean"
    DIRTY = "dirty"
    CONFLICT = "conflict"
    HELD = "held"
    QUARANTINED = "quarantined"


class Mapping(OwnedModel):
    """The card of one person.

    `href` is as the server spelled it, `href_key` its form for comparison (carddav.client.href_key). While there is no
    card, `href` is the one under which it was sent, if any, and `href_key` is `new:` and the person's id. `remote_raw`
    is the card as last fetched, or empty. Two bases detect edits: `base_remote` has the fields of `remote_raw`,
    `base_local` the fields of the person when both sides last agreed. A value that a server drops or re-spells is
    therefore an edit of neither side. `local_rev` is the account's revision at that time.

    A quarantined card was refused for its content, with `error`; it is sent again once its hash differs from
    `body_hash`. After `failures` server errors in a row it backs off instead (carddav.sync.backoff). UIDs are not
    unique on servers.
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
    """A card that a listing named and that was not fetched yet. It lets the sync token move on."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known

    unscoped = UnscopedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)
    objects = OwnedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_todo_of_card")]


class TombstoneState(models.TextChoices):
    """The card stays on the server, is to be deleted there, or is gone."""

    KEPT = "kept"
    TO_DELETE = "to_delete"
    GONE = "gone"


class Tombstone(OwnedModel):
    """A card whose person was deleted, or that was dismissed: it is not offered as an import again.

    `etag` and `remote_raw` are as last fetched, to detect a later edit on the server. `person` is the deleted person
    while its row exists.
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
