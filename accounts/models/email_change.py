"""Changes of an account's address that can still be taken back."""

import datetime as dt

from django.db import models
from django.utils.crypto import salted_hmac

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

TAKE_BACK_DAYS = 7


class EmailChange(OwnedModel):
    """An account was to leave `old_email`, which it had proven. A link mailed there takes that back for seven days."""

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


def password_mark(encoded: str) -> str:
    """What tells whether a password, given as it is stored, is the one that an account had then."""
    return salted_hmac("accounts.email_change", encoded, algorithm="sha256").hexdigest()
