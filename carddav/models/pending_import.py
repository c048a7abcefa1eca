"""Cards that wait for the user to import them."""

from django.db import models
from django.utils import timezone

from carddav.models.connection import MAX_URL_LENGTH, Connection
from carddav.models.mapping import MAX_ETAG_LENGTH, MAX_KEY_LENGTH
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class PendingImport(OwnedModel):
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

    unscoped = UnscopedManager["PendingImport", OwnedQuerySet["PendingImport"]](OwnedQuerySet)
    objects = OwnedManager["PendingImport", OwnedQuerySet["PendingImport"]](OwnedQuerySet)

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
