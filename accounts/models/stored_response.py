"""Stored responses, replayed when a request is repeated with its Idempotency-Key."""

from django.db import models

from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class StoredResponseQuerySet(LeaseQuerySet["StoredResponse"], OwnedQuerySet["StoredResponse"]):  # type: ignore[override]  # as_manager
    """Stored responses."""


class StoredResponse(Leased, OwnedModel):
    """One request with an Idempotency-Key. While it runs, the row is leased; once `status` is set, it is the response.

    `name` is a digest of path and key, `digest` one of query string and body: hashed because they can be long and
    private, and only ever compared.
    """

    name = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(default=b"")
    headers = models.JSONField(default=dict)

    unscoped = UnscopedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)
    objects = OwnedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="stored_response_once")]
        indexes = [models.Index(fields=["created_at"], name="stored_response_age")]
