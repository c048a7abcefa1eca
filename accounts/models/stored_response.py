"""Stored responses, replayed when a request is repeated with its Idempotency-Key."""

from django.db import models

from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class StoredResponseQuerySet(LeaseQuerySet["StoredResponse"], OwnedQuerySet["StoredResponse"]):  # type: ignore[override]  # as_manager
    """Stored responses."""


class StoredResponse(Leased, OwnedModel):
    """One request with an Idempotency-Key. While it runs, the row is leased; once `status` is set, it is the response.

    `key_digest` is a hash of path and key, `content_digest` one of query string and body. Hashes, because the texts can
    be long and private, and are only compared.
    """

    key_digest = models.CharField(max_length=64)
    content_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(default=b"")
    headers = models.JSONField(default=dict)

    unscoped = UnscopedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)
    objects = OwnedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key_digest"], name="stored_response_once")]
        indexes = [models.Index(fields=["created_at"], name="stored_response_age")]
