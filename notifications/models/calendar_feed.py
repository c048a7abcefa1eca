"""Calendar feeds: secret URLs at which calendar programs read an account's dates, without signing in."""

import hashlib
import secrets

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

IMPORTANT_DATE, CONTACT = "important_date", "contact"
FEED_KINDS = [IMPORTANT_DATE, CONTACT]


class CalendarFeed(OwnedModel):
    """One feed URL.

    - `digest` is the hash of the URL's secret. The secret itself is not stored.
    - `group_ids` (as text) restrict the feed to members of these groups, as far as they are active; empty: all people.
    - `language` is empty if the feed uses the account's.
    - `revision` is that of the account's write that changed the feed last.
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
    """A random secret of 256 bits, in the form used in the URL."""
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """The hash under which a secret is stored. The secret is random, so that it needs neither salt nor slow hashing."""
    return hashlib.sha256(secret.encode()).hexdigest()
