"""Conflicts between the two sides of a contact that the user has to resolve."""

from django.db import models

from carddav.models.connection import Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, Mapping
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


class ConflictKind(models.TextChoices):
    """Both sides changed a field, or one side is gone."""

    FIELDS = "fields"
    REMOTE_DELETED = "remote_deleted"
    LOCAL_DELETED = "local_deleted"


class Resolution(models.TextChoices):
    """The user's decision; empty while the conflict is open."""

    OPEN = ""
    KEEP_LOCAL = "keep_local"
    KEEP_REMOTE = "keep_remote"
    MERGED = "merged"


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
