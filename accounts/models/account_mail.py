"""Mails about the account itself that have yet to be sent."""

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
    TAKEN = "TAKEN"  # never ordered: what VERIFY turns into where another account has proven the address


class AccountMail(Leased):
    """One mail to be sent to `address`; the row goes once it is sent, or turns out to be for nobody.

    Whose address it is, is looked up when it is sent and not when it is asked for: asking is the same work for every
    address. The link is made then too, so that no secret stands here. `owner` is set where the mail is for one account
    alone, `change` where it tells of one.
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
