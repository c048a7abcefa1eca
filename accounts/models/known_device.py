"""Browsers that have signed in to an account before."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class KnownDevice(OwnedModel):
    """A browser, recognised by a random token in a cookie. Only its SHA-256 is stored."""

    digest = models.CharField(max_length=64, unique=True)
    last_used_at = models.DateTimeField()

    unscoped = UnscopedManager["KnownDevice", OwnedQuerySet["KnownDevice"]](OwnedQuerySet)
    objects = OwnedManager["KnownDevice", OwnedQuerySet["KnownDevice"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "last_used_at"], name="known_device_owner")]
