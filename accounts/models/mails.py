"""The queue of mails about the account itself, and changes of its address that can still be undone."""

import datetime as dt
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.leases import Leased, LeaseManager
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.vocabularies import Vocabulary

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


class MailKind(Vocabulary):
    VERIFY = "VERIFY"
    RESET = "RESET"
    CHANGED = "CHANGED"
    TAKEN = "TAKEN"  # never queued: replaces VERIFY if another account has proven the address


class AccountMail(Leased):
    """One mail to be sent to `address` (folded). The row is deleted once it is sent, or if nobody is to receive it.

    The account of the address is looked up when the mail is sent, not when it is queued, so that the time of the
    request does not reveal whether there is one. The link is also created then, so that the table holds no secret.
    `owner` is set if the mail concerns one account only, `change` if it is about a change of address.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=10, choices=MailKind.choices)
    address = models.CharField(max_length=320)
    change = models.ForeignKey("accounts.EmailChange", null=True, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[LeaseManager["AccountMail"]] = LeaseManager()

    class Meta:
        constraints = [
            one_of(MailKind, "kind", name="account_mail_kind_known"),
        ]
        indexes = [models.Index(fields=["next_try_at"], name="account_mail_next_try")]
