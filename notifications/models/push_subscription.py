"""Devices that take browser push."""

import hashlib

from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class PushSubscription(OwnedModel):
    """One browser on one device, as its push service knows it. An endpoint belongs to one account at a time."""

    endpoint = models.TextField()
    endpoint_digest = models.CharField(max_length=64, unique=True)
    p256dh = models.CharField(max_length=255)
    auth = EncryptedTextField()

    unscoped = UnscopedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)
    objects = OwnedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="push_subscription_owner")]


def endpoint_digest(endpoint: str) -> str:
    """The upsert key: an endpoint may be longer than an index entry."""
    return hashlib.sha256(endpoint.encode()).hexdigest()
