"""Where both sides say different things of one person, and somebody has to decide."""

from django.db import models

from carddav.models.connection import Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, Mapping
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from people.models import Person


class ConflictKind(models.TextChoices):
    """Fields that differ, or one side is gone."""

    FIELDS = "fields"
    REMOTE_DELETED = "remote_deleted"
    LOCAL_DELETED = "local_deleted"


class Resolution(models.TextChoices):
    """What was decided; ``: nothing yet."""

    OPEN = ""
    KEEP_LOCAL = "keep_local"
    KEEP_REMOTE = "keep_remote"
    MERGED = "merged"


class ConflictQuerySet(OwnedQuerySet["Conflict"]):
    """Conflicts."""

    def still_open(self) -> "ConflictQuerySet":
        return self.filter(resolved_at=None)


class Conflict(OwnedModel):
    """One person whose card differs; `fields` is `[{ field, base, local, remote }]`, as the API answers it.

    A later change on the server updates the same row: `remote_raw` and `remote_etag` are the card as last fetched.
    `values` are what the user gave for a merged resolution, by field.
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
