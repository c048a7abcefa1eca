"""An account's connection to its CardDAV server."""

import datetime as dt

from django.db import models
from django.utils import timezone

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.columns import StoredTextField
from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.vocabularies import Vocabulary

MAX_URL_LENGTH = 2000
MIN_SYNC_INTERVAL_SECONDS, MAX_SYNC_INTERVAL_SECONDS = 60, 86_400


class CardDavProvider(Vocabulary):
    """The user's choice of provider: a hint for discovery."""

    CUSTOM = "custom"
    GOOGLE = "google"
    ICLOUD = "icloud"
    OUTLOOK = "outlook"
    NEXTCLOUD = "nextcloud"


class ImportMode(Vocabulary):
    """What happens to new cards on the server: they wait, they wait and the user is notified, or they are imported."""

    MANUAL = "manual"
    NOTIFY = "notify"
    AUTO = "auto"


class NameFormat(Vocabulary):
    """The form of FN (people.vcard.card.Card.format_name)."""

    FULL = "FULL"
    FIRST_LAST = "FIRST_LAST"
    NICKNAME_PREFERRED = "NICKNAME_PREFERRED"
    SHORT = "SHORT"


class Pause(Vocabulary):
    """Why automatic runs are paused; empty if they are not."""

    NONE = ""
    AUTH = "auth"
    DELETIONS_HELD = "deletions_held"


class ConnectionQuerySet(LeaseQuerySet["Connection"], OwnedQuerySet["Connection"]):  # type: ignore[override]  # as_manager
    """Connections, with their leases."""

    def due(self, now: dt.datetime) -> "ConnectionQuerySet":
        """Connections whose automatic run is due: not paused, not waiting for Retry-After or for a confirmation, and of
        an account that the operator has not disabled."""
        rows = self.filter(sync_enabled=True, needs_confirmation=False, next_sync_at__lte=now, owner__is_active=True)
        rows = rows.exclude(pause=Pause.AUTH)
        return rows.filter(models.Q(not_before=None) | models.Q(not_before__lte=now))


class Connection(Leased, OwnedModel):
    """The account's CardDAV server, the chosen address book, and the state of its sync.

    `book_url` is empty until discovery has found the book; `caps` are the book's capabilities
    (kernel.webdav.shapes.Capabilities). `sync_token` and `ctag` belong to the last listing of which everything is
    applied or stored in Todo. `next_sync_at` is when the next automatic run is due: an edit of a person sets it to now.
    `not_before` comes from the server's Retry-After. An imported connection has no password, and is paused until it
    gets one. `needs_confirmation`: a run was undone, so all runs are dry until one is confirmed. `revision` is that of
    the write which last changed the settings; results of runs do not change it.

    The lease is the lock for everything that works with the server: sync, discovery, import, export, resolving,
    deleting.
    """

    server_url = models.CharField(max_length=MAX_URL_LENGTH)
    username = models.CharField(max_length=255)
    password = EncryptedTextField(blank=True)
    provider = models.CharField(max_length=20, choices=CardDavProvider.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
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
    last_error = StoredTextField(blank=True)
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
                condition=models.Q(auto_sync_interval__range=(MIN_SYNC_INTERVAL_SECONDS, MAX_SYNC_INTERVAL_SECONDS)),
                name="carddav_connection_interval",
            ),
        ]
        indexes = [
            models.Index(fields=["next_sync_at"], name="carddav_connection_due", condition=models.Q(sync_enabled=True)),
            models.Index(fields=["pause"], name="carddav_connection_paused", condition=~models.Q(pause="")),
            # Filters of the operator's list in the admin.
            models.Index(fields=["id"], name="carddav_connection_failing", condition=~models.Q(last_error_code="")),
            models.Index(fields=["id"], name="carddav_connection_off", condition=models.Q(sync_enabled=False)),
        ]

    @property
    def is_resolved(self) -> bool:
        """Whether discovery has found the book."""
        return bool(self.book_url)

    def clear_discovery(self) -> None:
        """Forget what discovery found: it belongs to another server or another user."""
        self.principal_url = self.book_url = self.book_name = self.sync_token = self.ctag = ""
        self.home_urls, self.caps, self.last_reconcile_at = [], {}, None

    def clear_error(self) -> None:
        """Forget the last error, and end the wait and the pause that it caused."""
        self.last_error_code, self.last_error, self.last_error_status, self.last_error_at = "", "", None, None
        self.not_before, self.pause = None, Pause.NONE


def _mirrored_trigger(event: str, row: str, *, is_mirrored: bool) -> Trigger:
    body = f"UPDATE accounts_user SET is_mirrored = {is_mirrored} WHERE id = {row}.owner_id"  # noqa: S608 - no input
    return Trigger(f"mirrored_{event.lower()}", Connection._meta.db_table, event, body, writes="accounts_user")


MIRRORED_TRIGGERS = (
    _mirrored_trigger("INSERT", "NEW", is_mirrored=True),
    _mirrored_trigger("DELETE", "OLD", is_mirrored=False),
)
"""They keep User.is_mirrored, so that a write knows without a query whether there is a connection."""
