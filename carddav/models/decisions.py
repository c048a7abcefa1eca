"""Cards for the user to decide about, conflicts and cards to import, and cards that are no contacts."""

from django.db import models
from django.utils import timezone

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH, Mapping
from contacts_project.kernel.database.columns import StoredTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.vocabularies import Vocabulary
from people.models import Person
from people.models.account_counts import CountedModel, CountedQuerySet, register_counted_bytes
from people.vocabularies import Resolution


class ConflictKind(Vocabulary):
    """Both sides changed a field, or one side is gone."""

    FIELDS = "fields"
    REMOTE_DELETED = "remote_deleted"
    LOCAL_DELETED = "local_deleted"


class ConflictQuerySet(OwnedQuerySet["Conflict"]):
    """Conflicts of an account."""

    def unresolved(self) -> "ConflictQuerySet":
        return self.filter(resolved_at=None)


class Conflict(OwnedModel):
    """A conflict of one person. `fields` is `[{ field, base, local, remote }]`, as in the API's responses.

    A later change on the server updates the same row: `remote_raw` and `remote_etag` are the card as last fetched.
    `values` are the user's values for the resolution `merged`, by field.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    mapping = models.ForeignKey(Mapping, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=15, choices=ConflictKind.choices, default=ConflictKind.FIELDS)
    fields = models.JSONField(default=list, blank=True)
    remote_raw = models.TextField(blank=True)
    remote_etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    resolution = models.CharField(max_length=15, choices=Resolution.choices, default=Resolution.OPEN, blank=True)
    values = models.JSONField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["Conflict", ConflictQuerySet](ConflictQuerySet)
    objects = OwnedManager["Conflict", ConflictQuerySet](ConflictQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person"], name="carddav_conflict_of_person", condition=models.Q(resolved_at=None)
            ),
        ]
        indexes = [
            models.Index(fields=["connection", "resolved_at"], name="carddav_conflict_open"),
            models.Index(
                fields=["resolved_at"], name="carddav_conflict_resolved", condition=models.Q(resolved_at__isnull=False)
            ),
        ]


class PendingImport(CountedModel, OwnedModel):
    """A card without a person: found on the server (`connection`, `href`, `etag`), or uploaded in a file (all null).

    `raw` is the unchanged text, `digest` its SHA-256, by which the same card is recognised.
    """

    connection = models.ForeignKey(
        Connection, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    uid = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    display_name = models.CharField(max_length=500)
    raw = models.TextField()
    digest = models.CharField(max_length=64, editable=False)
    href = models.CharField(max_length=MAX_URL_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not from a server
    href_key = models.CharField(max_length=MAX_KEY_LENGTH, blank=True)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - as above
    discovered_at = models.DateTimeField(default=timezone.now)

    COUNTED_COLUMN = "raw"

    unscoped = UnscopedManager["PendingImport", CountedQuerySet["PendingImport"]](CountedQuerySet)
    objects = OwnedManager["PendingImport", CountedQuerySet["PendingImport"]](CountedQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "href_key"],
                name="pending_import_of_card",
                condition=models.Q(connection__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "discovered_at"], name="pending_import_found"),
            models.Index(fields=["owner", "uid"], name="pending_import_uid"),
            models.Index(fields=["owner", "digest"], name="pending_import_digest"),
        ]


register_counted_bytes(PendingImport, PendingImport.COUNTED_COLUMN, "")


class OtherKind(Vocabulary):
    """Why the card is not a contact."""

    GROUP = "group"
    UNREADABLE = "unreadable"


class OtherCard(OwnedModel):
    """A group card, or one that cannot be parsed; fetched again when its ETag changes.

    `members` are the UIDs in a group card, `joined` those whose people were put into the group of its `name`; a person
    who is removed from the group here is not added again. `error` is the parser's message.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    kind = models.CharField(max_length=10, choices=OtherKind.choices)
    name = models.CharField(max_length=100, blank=True)
    members = models.JSONField(default=list, blank=True)
    joined = models.JSONField(default=list, blank=True)
    error = StoredTextField(blank=True)

    unscoped = UnscopedManager["OtherCard", OwnedQuerySet["OtherCard"]](OwnedQuerySet)
    objects = OwnedManager["OtherCard", OwnedQuerySet["OtherCard"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_other_card")]
