"""Queues mails about the account: a row in the caller's transaction, a task after the commit."""

from django.db import transaction

from accounts.models import AccountMail, EmailChange, MailKind, User
from accounts.signals import mail_queued


def queue_mail(*, kind: MailKind, address: str, user: User | None = None, change: EmailChange | None = None) -> None:
    """Queue a mail to `address`."""
    # Nothing is looked up about the address here: the response time must not reveal whether it has an account.
    mail = AccountMail.objects.create(kind=kind, address=User.objects.fold_email(address), owner=user, change=change)
    # If the broker is down, the minutely sweep finds the row, so an error of the task is only logged (robust).
    transaction.on_commit(lambda: mail_queued.send(sender=AccountMail, mail_id=mail.pk), robust=True)
