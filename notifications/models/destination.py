"""Notification destinations: ntfy topics and webhooks that an account sends its reminders to."""

import datetime as dt
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import FeedModel, FeedQuerySet, OwnedManager, UnscopedManager

MAX_URL_LENGTH = 500
OLD_SECRET_HOURS = 24
FAILURES_TO_DISABLE = 10
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class DestinationType(models.TextChoices):
    """What is spoken at the URL."""

    NTFY = "NTFY"
    WEBHOOK = "WEBHOOK"


class DestinationQuerySet(FeedQuerySet["Destination"]):
    """Destinations."""

    def of_type(self, type_: DestinationType) -> "DestinationQuerySet":
        return self.filter(type=type_)


class Destination(FeedModel):
    """One URL of one account. `secret` is the ntfy access token or the webhook's signing secret.

    A webhook that came with an import has none until its owner rotates it, and is off for so long (`is_on`).
    `server_url` is the ntfy server's root as it was found behind the topic URL. The previous signing secret signs too
    until `old_secret_until`. `disable_notice_due` stays true until the owner has been told by mail.
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
    # What a delivery writes down.
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
            # What operators look at.
            models.Index(fields=["id"], name="destination_off", condition=models.Q(enabled=False)),
            models.Index(fields=["id"], name="destination_failing", condition=models.Q(consecutive_failures__gt=0)),
            models.Index(
                fields=["last_failure_code", "id"], name="destination_failed", condition=~models.Q(last_failure_code="")
            ),
        ]

    @property
    def lacks_secret(self) -> bool:
        """Whether it could sign nothing."""
        return self.type == DestinationType.WEBHOOK and not self.secret

    @property
    def is_on(self) -> bool:
        """Whether anything is sent there."""
        return self.enabled and not self.lacks_secret

    def point_to(self, url: str, server_url: str) -> None:
        """Set a checked URL, with the ntfy server found behind it."""
        self.url, self.url_key, self.server_url = url, url_key(url), server_url

    def signing_secrets(self, now: dt.datetime) -> list[str]:
        """The secrets that sign at `now`, the newest first."""
        old_counts = self.old_secret and self.old_secret_until and now < self.old_secret_until
        return [self.secret, self.old_secret] if old_counts else [self.secret]

    def rotate_secret(self, secret: str, now: dt.datetime) -> None:
        """Sign with `secret` from now on, and with the one before for a day more."""
        self.old_secret, self.old_secret_until = self.secret, now + dt.timedelta(hours=OLD_SECRET_HOURS)
        self.secret = secret

    def reset_failures(self) -> None:
        """A new URL or credential starts with a clean slate."""
        self.consecutive_failures = 0
        self.last_failure_at, self.last_failure_code = None, ""

    def enable(self) -> None:
        """Switch on, with the counter and the automatic switching-off forgotten."""
        self.enabled = True
        self.consecutive_failures = 0
        self.auto_disabled_at, self.disable_notice_due = None, False

    def record_failure(self, code: str, now: dt.datetime, *, counts: bool, is_gone: bool) -> None:
        """A delivery was given up. The tenth in a row, or a destination that says it is gone, switches it off."""
        self.last_failure_at, self.last_failure_code = now, code
        self.consecutive_failures += counts
        if self.enabled and (is_gone or self.consecutive_failures >= FAILURES_TO_DISABLE):
            self.enabled = False
            self.auto_disabled_at, self.disable_notice_due = now, True

    @property
    def needs_pro(self) -> bool:
        """Whether using it takes a Pro subscription: webhooks do where plans are sold."""
        return settings.SAAS_MODE and self.type == DestinationType.WEBHOOK


def url_key(url: str) -> str:
    """What makes two URLs the same: scheme and host in lower case, without a default port and fragment."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return parts._replace(scheme=scheme, netloc=host, fragment="").geturl()
