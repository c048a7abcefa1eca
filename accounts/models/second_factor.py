"""The second factor of an account: an authenticator app, and codes for when it is lost."""

from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class TotpDevice(OwnedModel):
    """The authenticator app (RFC 6238). It counts from `confirmed_at` on, when the owner has shown that it works."""

    secret = EncryptedTextField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_step = models.BigIntegerField(default=0)

    unscoped = UnscopedManager["TotpDevice", OwnedQuerySet["TotpDevice"]](OwnedQuerySet)
    objects = OwnedManager["TotpDevice", OwnedQuerySet["TotpDevice"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner"], name="totp_device_one_per_owner")]


class RecoveryCode(OwnedModel):
    """A code that stands in for the app once; only its keyed hash is stored, and the row goes when it is used."""

    digest = models.CharField(max_length=64)

    unscoped = UnscopedManager["RecoveryCode", OwnedQuerySet["RecoveryCode"]](OwnedQuerySet)
    objects = OwnedManager["RecoveryCode", OwnedQuerySet["RecoveryCode"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "digest"], name="recovery_code_unique")]
