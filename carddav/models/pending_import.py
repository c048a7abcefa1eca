"""Contacts that wait until somebody imports them."""

from django.db import models
from django.utils import timezone

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class PendingImport(OwnedModel):
    """A card that is no person yet: found on the server (`href`, `etag`), or uploaded as a file (both null).

    `raw` is the card as it came; `digest` its SHA-256, by which the same card is told again.
    """

    uid = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    display_name = models.CharField(max_length=500)
    raw = models.TextField()
    digest = models.CharField(max_length=64, editable=False)
    href = models.CharField(max_length=2000, null=True, blank=True)  # noqa: DJ001 - null: not from a server
    etag = models.CharField(max_length=500, null=True, blank=True)  # noqa: DJ001 - as above
    discovered_at = models.DateTimeField(default=timezone.now)

    unscoped = UnscopedManager["PendingImport", OwnedQuerySet["PendingImport"]](OwnedQuerySet)
    objects = OwnedManager["PendingImport", OwnedQuerySet["PendingImport"]](OwnedQuerySet)

    class Meta:
        indexes = [
            models.Index(fields=["owner", "discovered_at"], name="pending_import_found"),
            models.Index(fields=["owner", "uid"], name="pending_import_uid"),
            models.Index(fields=["owner", "digest"], name="pending_import_digest"),
        ]
