"""The queue of mails about the account itself."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet


class MailKind(models.TextChoices):
    VERIFY = "VERIFY"
    RESET = "RESET"
    CHANGED = "CHANGED"
    TAKEN = "TAKEN"  # never queued: replaces VERIFY if another account has proven the address


class AccountMail(Leased):
    """One mail to be sent to `address`. The row is deleted once it is sent, or if nobody is to receive it.

    The account of the address is looked up when the mail is sent, not when it is queued, so that the time of the
    request does not reveal whether there is one. The link is also created then, so that the table holds no secret.
    `owner` is set if the mail concerns one account only, `change` if it is about a change of address.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=10, choices=MailKind.choices)
    address = models.EmailField(max_length=254)
    change = models.ForeignKey("accounts.EmailChange", null=True, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = LeaseQuerySet["AccountMail"].as_manager()

    class Meta:
        constraints = [
            one_of(MailKind, "kind", name="account_mail_kind_known"),
        ]
        indexes = [models.Index(fields=["next_try_at"], name="account_mail_next_try")]
