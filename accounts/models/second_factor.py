"""The second factor of an account: an authenticator app, and recovery codes for when it is lost."""

from django.db import models

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


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
