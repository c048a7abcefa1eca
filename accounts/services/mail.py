"""Sends the mails about the account: to verify an address, to set a new password."""

import datetime as dt
import logging
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import translation

from accounts.link_tokens import Purpose, make_token
from accounts.mail_texts import MailText, text_of
from accounts.models import AccountMail, MailKind, User
from contacts_project.kernel.api.budgets import Budget
from contacts_project.kernel.api.errors import RateLimitedError

log = logging.getLogger(__name__)

# A mail under way is nobody else's for so long; then it counts as lost and is sent again.
_LEASE = dt.timedelta(minutes=5)
_PAUSES = [dt.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 300, 600)]
# Strangers can ask for mails to any address: no mailbox gets more than this.
_PER_MAILBOX = Budget("account-mail", 10, 3600)


def send_mail(*, mail_id: UUID, now: dt.datetime) -> bool:
    """Send one mail if it is due and nobody else's; whether it went out. Running twice sends once."""
    mine = AccountMail.objects.filter(pk=mail_id, next_try_at__lte=now)
    if not mine.update(next_try_at=now + _LEASE, tries=F("tries") + 1):
        return False
    mail = AccountMail.objects.select_related("owner").get(pk=mail_id)
    message = _message(mail)
    if message is None:
        mail.delete()
        return False
    try:
        message.send()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with this one, others wait behind it
        _put_off(mail, now, error)
        return False
    mail.delete()
    return True


def send_due_mails(*, now: dt.datetime) -> int:
    """Send what is due, such as what a crash or a mail server's pause left; how many went out."""
    due = AccountMail.objects.filter(next_try_at__lte=now).order_by("next_try_at", "pk").values_list("pk", flat=True)
    return sum(send_mail(mail_id=mail_id, now=now) for mail_id in list(due[:500]))


def _put_off(mail: AccountMail, now: dt.datetime, error: Exception) -> None:
    if mail.tries > len(_PAUSES):
        log.error("Gave up a %s mail after %d tries: %s", mail.kind, mail.tries, type(error).__name__)
        mail.delete()
        return
    log.warning("A %s mail could not be sent: %s", mail.kind, type(error).__name__)
    AccountMail.objects.filter(pk=mail.pk).update(next_try_at=now + _PAUSES[mail.tries - 1])


def _message(mail: AccountMail) -> EmailMultiAlternatives | None:
    """The mail in its reader's language; None where there is nobody, or nothing to tell."""
    user = mail.owner or User.objects.with_email(mail.address).first()
    if user is None or not user.is_active or User.objects.fold(user.email) != User.objects.fold(mail.address):
        return None
    kind = MailKind(mail.kind)
    if kind is MailKind.TAKEN and not user.email_verified:
        kind = MailKind.VERIFY  # whoever registers again has most likely lost the first mail
    if kind is MailKind.VERIFY and user.email_verified:
        return None
    try:
        _PER_MAILBOX.draw(User.objects.fold(user.email))
    except RateLimitedError:
        return None
    with translation.override(user.language):
        return _compose(user, text_of(kind, user), _link(kind, user))


def _link(kind: MailKind, user: User) -> str:
    if kind is MailKind.VERIFY:
        return f"{settings.BASE_URL}/account/verify-email?token={make_token(user, Purpose.VERIFY)}"
    return f"{settings.BASE_URL}/account/reset-password?token={make_token(user, Purpose.RESET)}"


def _compose(user: User, text: MailText, link: str) -> EmailMultiAlternatives:
    context = {"text": text, "link": link, "language": user.language}
    plain = render_to_string("email/account.txt", context)
    message = EmailMultiAlternatives(
        text.subject, plain, None, [user.email], headers={"Auto-Submitted": "auto-generated"}
    )
    message.attach_alternative(render_to_string("email/account.html", context), "text/html")
    return message
