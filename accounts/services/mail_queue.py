"""Orders a mail about the account: a row first, the task once it is committed."""

from django.db import transaction

from accounts.models import AccountMail, EmailChange, MailKind, User
from accounts.signals import mail_queued


def queue_mail(*, kind: MailKind, address: str, user: User | None = None, change: EmailChange | None = None) -> None:
    """Have a mail sent to `address`, soon. The same work whether or not anybody has the address."""
    mail = AccountMail.objects.create(kind=kind, address=address, owner=user, change=change)
    # Should the broker not answer, the sweep finds the row.
    transaction.on_commit(lambda: mail_queued.send(sender=AccountMail, mail_id=mail.pk), robust=True)
