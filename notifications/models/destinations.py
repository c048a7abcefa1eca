"""Where an account gets its reminders: destinations, browsers with push, calendar feeds."""

import datetime as dt
import hashlib
import secrets
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.leases import RELEASED_VALUES, Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import (
    FeedModel,
    FeedQuerySet,
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
)
from contacts_project.kernel.vocabularies import Vocabulary

MAX_URL_LENGTH = 500
OLD_SECRET_HOURS = 24
FAILURES_TO_DISABLE = 10
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class DestinationType(Vocabulary):
    """The protocol of the URL."""

    NTFY = "NTFY"
    WEBHOOK = "WEBHOOK"


class DestinationQuerySet(LeaseQuerySet["Destination"], FeedQuerySet["Destination"]):  # type: ignore[override]  # as_manager
    """Destinations, with the leases for the mails about those that were switched off."""

    def of_type(self, type_: DestinationType) -> "DestinationQuerySet":
        return self.filter(type=type_)


class Destination(Leased, FeedModel):
    """One URL of one account.

    - `secret` is the ntfy access token or the webhook's signing secret. An imported webhook has none until its owner
      rotates it, and is off until then (`is_on`).
    - `old_secret` is the previous signing secret. It signs too until `old_secret_until`.
    - `server_url` is the root URL of the ntfy server, found when the topic URL was set.
    - `url_key` is the normalised URL, unique per account.
    - `disable_notice_due`: the destination was switched off for failing, and the mail about it is still to be sent. The
      lease is held by the process that sends it and, after a failure, until the next try.
    """

    type = models.CharField(max_length=10, choices=DestinationType.choices)
    label = models.CharField(max_length=60)
    url = models.CharField(max_length=MAX_URL_LENGTH)
    url_key = models.CharField(max_length=MAX_URL_LENGTH + 20)
    server_url = models.CharField(max_length=MAX_URL_LENGTH, blank=True)
    enabled = models.BooleanField(default=True)
    secret = EncryptedTextField(blank=True)
    old_secret = EncryptedTextField(blank=True)
    old_secret_until = models.DateTimeField(null=True, blank=True)
    consecutive_failures = models.PositiveIntegerField(default=0)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_failure_at = models.DateTimeField(null=True, blank=True)
    last_failure_code = models.CharField(max_length=30, blank=True)
    auto_disabled_at = models.DateTimeField(null=True, blank=True)
    disable_notice_due = models.BooleanField(default=False)

    FEED_TYPE = "destination"
    UNREVISED_COLUMNS = frozenset({"disable_notice_due", *RELEASED_VALUES})
    # The columns that the outcome of a delivery may change.
    OUTCOME_COLUMNS = (
        "consecutive_failures",
        "last_success_at",
        "last_failure_at",
        "last_failure_code",
        "enabled",
        "auto_disabled_at",
        "disable_notice_due",
    )

    unscoped = UnscopedManager["Destination", DestinationQuerySet](DestinationQuerySet)
    objects = OwnedManager["Destination", DestinationQuerySet](DestinationQuerySet)

    class Meta:
        constraints = [
            one_of(DestinationType, "type", name="destination_type_known"),
            models.UniqueConstraint(fields=["owner", "url_key"], name="destination_url_once"),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="destination_feed"),
            models.Index(fields=["id"], name="destination_notice_due", condition=models.Q(disable_notice_due=True)),
            # For the admin.
            models.Index(fields=["id"], name="destination_off", condition=models.Q(enabled=False)),
            models.Index(fields=["id"], name="destination_failing", condition=models.Q(consecutive_failures__gt=0)),
            models.Index(
                fields=["last_failure_code", "id"], name="destination_failed", condition=~models.Q(last_failure_code="")
            ),
        ]

    @property
    def lacks_secret(self) -> bool:
        """Whether it is a webhook without a signing secret."""
        return self.type == DestinationType.WEBHOOK and not self.secret

    @property
    def is_on(self) -> bool:
        """Whether deliveries are sent there."""
        return self.enabled and not self.lacks_secret

    def set_url(self, url: str, server_url: str) -> None:
        """Set a URL that was checked, with the root URL of its ntfy server (empty for a webhook)."""
        self.url, self.url_key, self.server_url = url, url_key(url), server_url

    def signing_secrets(self, now: dt.datetime) -> list[str]:
        """The secrets that are valid at `now`, the newest first."""
        is_old_valid = self.old_secret and self.old_secret_until and now < self.old_secret_until
        return [self.secret, self.old_secret] if is_old_valid else [self.secret]

    def rotate_secret(self, secret: str, now: dt.datetime) -> None:
        """Sign with `secret` from now on, and for OLD_SECRET_HOURS with the previous one too."""
        self.old_secret, self.old_secret_until = self.secret, now + dt.timedelta(hours=OLD_SECRET_HOURS)
        self.secret = secret

    def reset_failures(self) -> None:
        """Clear the failures, after a change of the URL or credential."""
        self.consecutive_failures = 0
        self.last_failure_at, self.last_failure_code = None, ""

    def enable(self) -> None:
        """Switch on, clearing the failure count and the mark of automatic disabling."""
        self.enabled = True
        self.consecutive_failures = 0
        self.auto_disabled_at, self.disable_notice_due = None, False
        # A mail that is being sent is about the failures before. Without its lease, its sender cannot clear the mark of
        # a later switching off.
        for name, value in RELEASED_VALUES.items():
            setattr(self, name, value)

    def record_failure(self, code: str, now: dt.datetime, *, counts: bool, is_gone: bool) -> None:
        """Note a failed delivery. Switches off after FAILURES_TO_DISABLE in a row, or if the destination is gone."""
        self.last_failure_at, self.last_failure_code = now, code
        self.consecutive_failures += counts
        if self.enabled and (is_gone or self.consecutive_failures >= FAILURES_TO_DISABLE):
            self.enabled = False
            self.auto_disabled_at, self.disable_notice_due = now, True

    @property
    def needs_pro(self) -> bool:
        """Whether it needs a Pro subscription: webhooks do if the instance sells plans."""
        return settings.SAAS_MODE and self.type == DestinationType.WEBHOOK


def url_key(url: str) -> str:
    """The normalised URL, by which duplicates are found: lower-case scheme and host, no default port, no fragment."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return parts._replace(scheme=scheme, netloc=host, fragment="").geturl()


class PushSubscription(OwnedModel):
    """One browser on one device, with its endpoint and keys. An endpoint belongs to one account at a time."""

    endpoint = models.TextField()
    endpoint_digest = models.CharField(max_length=64, unique=True)
    p256dh = models.CharField(max_length=255)
    auth = EncryptedTextField()
    user_agent = models.CharField(max_length=500, default="", blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)
    objects = OwnedManager["PushSubscription", OwnedQuerySet["PushSubscription"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="push_subscription_owner")]


def endpoint_digest(endpoint: str) -> str:
    """The unique key of an endpoint, which may itself be too long for an index."""
    return hashlib.sha256(endpoint.encode()).hexdigest()


IMPORTANT_DATE, CONTACT = "important_date", "contact"
FEED_KINDS = [IMPORTANT_DATE, CONTACT]


class CalendarFeed(OwnedModel):
    """A secret URL at which calendar programs read the account's dates without signing in.

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
