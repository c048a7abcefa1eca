"""Devices subscribed to browser push."""

import hashlib

from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class PushSubscription(OwnedModel):
    """One browser on one device, with its endpoint and keys. An endpoint belongs to one account at a time."""

    endpoint = models.TextField()
    endpoint_digest = models.CharField(max_length=64, unique=True)
    p256dh = models.CharField(max_length=255)
    auth = EncryptedTextField()

    unscoped = UnscopedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)
    objects = OwnedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="push_subscription_owner")]


def endpoint_digest(endpoint: str) -> str:
    """The unique key of an endpoint, which may itself be too long for an index."""
    return hashlib.sha256(endpoint.encode()).hexdigest()
