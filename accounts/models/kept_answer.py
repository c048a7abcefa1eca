"""Answers that are given again to who repeats a request under its Idempotency-Key."""

from django.db import models

from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class KeptAnswerQuerySet(LeaseQuerySet["KeptAnswer"], OwnedQuerySet["KeptAnswer"]):  # type: ignore[override]  # as_manager
    """Kept answers."""


class KeptAnswer(Leased, OwnedModel):
    """One request under a key: held while it runs, and what it was answered once `status` is there.

    `name` is a digest of route and key, `digest` one of the body: neither is told to anybody, and both may be long.
    """

    name = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(default=b"")
    headers = models.JSONField(default=dict)

    unscoped = UnscopedManager["KeptAnswer", KeptAnswerQuerySet](KeptAnswerQuerySet)
    objects = OwnedManager["KeptAnswer", KeptAnswerQuerySet](KeptAnswerQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="kept_answer_once")]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_age")]
