"""An account's connection to its CardDAV server."""

import datetime as dt

from django.db import models
from django.utils import timezone

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

MAX_URL_LENGTH = 2000
SHORTEST_INTERVAL, LONGEST_INTERVAL = 60, 86_400


class Provider(models.TextChoices):
    """What kind of server the user says it is: a hint for discovery."""

    CUSTOM = "custom"
    GOOGLE = "google"
    ICLOUD = "icloud"
    OUTLOOK = "outlook"
    NEXTCLOUD = "nextcloud"


class ImportMode(models.TextChoices):
    """What becomes of contacts that are new on the server."""

    MANUAL = "manual"
    NOTIFY = "notify"
    AUTO = "auto"


class NameFormat(models.TextChoices):
    """What FN says of a person (people.vcard.Card.format_name)."""

    FULL = "FULL"
    FIRST_LAST = "FIRST_LAST"
    NICKNAME_PREFERRED = "NICKNAME_PREFERRED"
    SHORT = "SHORT"


class Pause(models.TextChoices):
    """Why nothing runs by itself although the account wants it to: ``: nothing is in the way."""

    NONE = ""
    AUTH = "auth"
    DELETIONS_HELD = "deletions_held"


class ConnectionQuerySet(LeaseQuerySet["Connection"], OwnedQuerySet["Connection"]):  # type: ignore[override]  # as_manager
    """Connections."""

    def due(self, now: dt.datetime) -> "ConnectionQuerySet":
        """Those whose automatic run is due, that are not paused and were not told to wait, nor wait for somebody.

        Accounts that the operator has switched off rest.
        """
        rows = self.filter(sync_enabled=True, needs_confirmation=False, next_sync_at__lte=now, owner__is_active=True)
        rows = rows.exclude(pause=Pause.AUTH)
        return rows.filter(models.Q(not_before=None) | models.Q(not_before__lte=now))


class Connection(Leased, OwnedModel):
    """The one CardDAV server of an account, the book that was chosen there, and how far its sync has come.

    `book_url` is empty until discovery has found it; `caps` is what the book can do (carddav.client.Capabilities).
    `sync_token` and `ctag` stand for the listing up to which everything is applied or in Todo. `next_sync_at` is when
    the next automatic run is due: an edit of a person sets it to now. `not_before` is what the server's Retry-After
    asked for. An imported connection has no password, and is paused until it gets one.
    `needs_confirmation`: a run was undone, so runs are dry until one is confirmed. `revision` is that of the write that
    changed the settings last: what a run finds out is no change of theirs. The lease is the lock of everything that
    works with the server: syncing, discovering, importing, exporting, resolving, deleting.
    """

    server_url = models.CharField(max_length=MAX_URL_LENGTH)
    username = models.CharField(max_length=255)
    password = EncryptedTextField(blank=True)
    provider = models.CharField(max_length=20, choices=Provider.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    sync_enabled = models.BooleanField(default=True)
    auto_export_new = models.BooleanField(default=True)
    auto_sync_interval = models.PositiveIntegerField(default=43_200)
    import_mode = models.CharField(max_length=10, choices=ImportMode.choices, default=ImportMode.MANUAL)
    name_format = models.CharField(max_length=20, choices=NameFormat.choices, default=NameFormat.FULL)

    principal_url = models.CharField(max_length=MAX_URL_LENGTH, blank=True)
    home_urls = models.JSONField(default=list, blank=True)
    book_url = models.CharField(max_length=MAX_URL_LENGTH, blank=True)
    book_name = models.CharField(max_length=255, blank=True)
    caps = models.JSONField(default=dict, blank=True)
    sync_token = models.TextField(blank=True)
    ctag = models.TextField(blank=True)

    last_reconcile_at = models.DateTimeField(null=True, blank=True)
    last_sync_at = models.DateTimeField(null=True, blank=True)
    next_sync_at = models.DateTimeField(default=timezone.now)

    last_error_code = models.CharField(max_length=30, blank=True)
    last_error = models.TextField(blank=True)
    last_error_status = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    pause = models.CharField(max_length=20, choices=Pause.choices, default=Pause.NONE, blank=True)
    needs_confirmation = models.BooleanField(default=False)
    revision = models.BigIntegerField(default=0, editable=False)

    unscoped = UnscopedManager["Connection", ConnectionQuerySet](ConnectionQuerySet)
    objects = OwnedManager["Connection", ConnectionQuerySet](ConnectionQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner"], name="carddav_connection_once"),
            models.CheckConstraint(
                condition=models.Q(auto_sync_interval__range=(SHORTEST_INTERVAL, LONGEST_INTERVAL)),
                name="carddav_connection_interval",
            ),
        ]
        indexes = [
            models.Index(fields=["next_sync_at"], name="carddav_connection_due", condition=models.Q(sync_enabled=True)),
            models.Index(fields=["pause"], name="carddav_connection_paused", condition=~models.Q(pause="")),
            # What operators look at.
            models.Index(fields=["id"], name="carddav_connection_failing", condition=~models.Q(last_error_code="")),
            models.Index(fields=["id"], name="carddav_connection_off", condition=models.Q(sync_enabled=False)),
        ]

    @property
    def is_resolved(self) -> bool:
        """Whether discovery has found the book."""
        return bool(self.book_url)

    def forget_book(self) -> None:
        """Another server, or another user of it: nothing that was found out holds any more."""
        self.principal_url = self.book_url = self.book_name = self.sync_token = self.ctag = ""
        self.home_urls, self.caps, self.last_reconcile_at = [], {}, None

    def clear_error(self) -> None:
        """What went wrong is over."""
        self.last_error_code, self.last_error, self.last_error_status, self.last_error_at = "", "", None, None
        self.not_before, self.pause = None, Pause.NONE
