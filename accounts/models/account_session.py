"""Signed-in browsers, as listed for their owner; Django's session store holds the sessions themselves."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class AccountSession(OwnedModel):
    """One sign-in. Valid as long as Django's session store has a session with `session_key`."""

    session_key = models.CharField(max_length=40, unique=True)
    user_agent = models.CharField(max_length=500, default="", blank=True)
    ip = models.CharField(max_length=45, default="", blank=True)
    last_used_at = models.DateTimeField()

    unscoped = UnscopedManager["AccountSession", OwnedQuerySet["AccountSession"]](OwnedQuerySet)
    objects = OwnedManager["AccountSession", OwnedQuerySet["AccountSession"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="account_session_owner")]
