"""Calendar feeds: addresses at which a calendar reads an account's dates, without signing in."""

import hashlib
import secrets

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

IMPORTANT_DATE, CONTACT = "important_date", "contact"
FEED_KINDS = [IMPORTANT_DATE, CONTACT]


class CalendarFeed(OwnedModel):
    """One address. `digest` is the hash of its secret, which is stored nowhere.

    `group_ids` (texts) narrow it down to members of these groups, those that are active; empty: all people. `language`
    is empty where it follows the account's. `revision` is that of the write that changed it last.
    """

    name = models.CharField(max_length=100)
    group_ids = models.JSONField(default=list)
    kinds = models.JSONField(default=list)
    alarms = models.BooleanField(default=True)
    language = models.CharField(max_length=10, blank=True)
    digest = models.CharField(max_length=64, unique=True)
    revision = models.BigIntegerField(default=0, editable=False)
    last_read_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["CalendarFeed", OwnedQuerySet["CalendarFeed"]](OwnedQuerySet)
    objects = OwnedManager["CalendarFeed", OwnedQuerySet["CalendarFeed"]](OwnedQuerySet)


def new_secret() -> str:
    """256 bits, as they stand in an address."""
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
