"""Changes of an account's address that can still be undone."""

import datetime as dt

from django.db import models
from django.utils.crypto import salted_hmac

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

TAKE_BACK_DAYS = 7


class EmailChange(OwnedModel):
    """A change away from the proven address `old_email`. A link mailed to that address undoes it for seven days.

    `password_mark` is a fingerprint of the password at the time: if it differs, the password has been changed since.
    """

    old_email = models.EmailField(max_length=254)
    new_email = models.EmailField(max_length=254)
    password_mark = models.CharField(max_length=64)

    unscoped = UnscopedManager["EmailChange", OwnedQuerySet["EmailChange"]](OwnedQuerySet)
    objects = OwnedManager["EmailChange", OwnedQuerySet["EmailChange"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="email_change_owner")]

    @property
    def ends_at(self) -> dt.datetime:
        return self.created_at + dt.timedelta(days=TAKE_BACK_DAYS)


def fingerprint_password(encoded: str) -> str:
    """A keyed hash of a stored password hash, to recognise later whether the password is still the same."""
    return salted_hmac("accounts.email_change", encoded, algorithm="sha256").hexdigest()
