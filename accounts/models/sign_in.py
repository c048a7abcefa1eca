"""How people sign up and in: sessions, sign-in devices, identities of a provider, the second factor."""

import re

from django.db import models

from accounts.vocabularies import EndReason
from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

#: Keys that the store of sessions makes. A cookie may hold any text.
SESSION_KEY_PATTERN = re.compile(r"[0-9a-z]{32}")


class RegistrationLock(models.Model):
    """One row for the whole instance. With its lock, a transaction may count accounts, add one, or assign addresses.

    Must be locked before any account row, never after, to avoid deadlocks.
    """

    taken = models.BigIntegerField(default=0)

    @classmethod
    def acquire(cls) -> None:
        """Wait for the lock and hold it until the open transaction ends."""
        # The row is created on first use.
        if not cls.objects.filter(pk=1).update(taken=models.F("taken") + 1):
            cls.objects.get_or_create(pk=1)
            cls.objects.filter(pk=1).update(taken=models.F("taken") + 1)


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


class EndedCredential(models.Model):
    """A session or API token that has ended, so that a 401 can say why (open points, section 1).

    It has no owner and names none: `digest` is the SHA-256 of the session's key or of the token's text. Sessions and
    tokens that have expired are here only once their own row is gone.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    reason = models.CharField(max_length=15, choices=EndReason.choices)
    ended_on = models.DateField(db_index=True)

    class Meta:
        constraints = [one_of(EndReason, "reason", name="ended_credential_reason_known")]


class KnownDevice(OwnedModel):
    """A browser, recognised by a random token in a cookie. Only its SHA-256 is stored."""

    digest = models.CharField(max_length=64, unique=True)
    last_used_at = models.DateTimeField()

    unscoped = UnscopedManager["KnownDevice", OwnedQuerySet["KnownDevice"]](OwnedQuerySet)
    objects = OwnedManager["KnownDevice", OwnedQuerySet["KnownDevice"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "last_used_at"], name="known_device_owner")]


class OidcIdentity(OwnedModel):
    """A subject of an issuer that signs in to the account."""

    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)

    unscoped = UnscopedManager["OidcIdentity", OwnedQuerySet["OidcIdentity"]](OwnedQuerySet)
    objects = OwnedManager["OidcIdentity", OwnedQuerySet["OidcIdentity"]](OwnedQuerySet)

    class Meta:
        verbose_name_plural = "OIDC identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="oidc_identity_unique")]


class TotpDevice(OwnedModel):
    """The authenticator app (RFC 6238). In use once `confirmed_at` is set, when the owner has entered a code of it.

    `last_step` is the time step of the last accepted code: neither it nor an earlier one is accepted again.
    """

    secret = EncryptedTextField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_step = models.BigIntegerField(default=0)

    unscoped = UnscopedManager["TotpDevice", OwnedQuerySet["TotpDevice"]](OwnedQuerySet)
    objects = OwnedManager["TotpDevice", OwnedQuerySet["TotpDevice"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner"], name="totp_device_one_per_owner")]


class RecoveryCode(OwnedModel):
    """A code that replaces the app once. Only its keyed hash is stored; the row is deleted when it is used."""

    digest = models.CharField(max_length=64)

    unscoped = UnscopedManager["RecoveryCode", OwnedQuerySet["RecoveryCode"]](OwnedQuerySet)
    objects = OwnedManager["RecoveryCode", OwnedQuerySet["RecoveryCode"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "digest"], name="recovery_code_unique")]
