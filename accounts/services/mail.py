"""Sends the mails about the account: to verify an address, to set a new password, to take a change back."""

import datetime as dt
import logging
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import translation

from accounts.link_tokens import Purpose, make_take_back_token, make_token
from accounts.models import AccountMail, MailKind, User
from accounts.services.mail_texts import Letter, text_of
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.errors import RateLimitedError

log = logging.getLogger(__name__)

# A mail under way is nobody else's for so long, unless its process is killed; then it counts as lost and is sent again.
_LEASE = dt.timedelta(minutes=5)
_PAUSES = [dt.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 300, 600)]
# Strangers can ask for mails to any address: no mailbox gets more of a kind than this. Kinds are counted apart, so that
# asking for one keeps nobody from getting another: a link for a new password, or the news that an address was changed.
_PER_MAILBOX = {kind: Budget(f"account-mail-{kind.lower()}", 10, 3600) for kind in MailKind}


def send_mail(*, mail_id: UUID, now: dt.datetime) -> bool:
    """Send one mail if it is due and nobody else's; whether it went out. Running twice sends once."""
    due = AccountMail.objects.filter(pk=mail_id, next_try_at__lte=now)
    claim = due.acquire(_LEASE, clock=now, tries=F("tries") + 1)
    if claim is None:
        return False
    mail = AccountMail.objects.select_related("owner", "change__owner").get(pk=mail_id)
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
    due = AccountMail.objects.filter(next_try_at__lte=now).free(now).order_by("next_try_at", "pk")
    return sum(send_mail(mail_id=mail_id, now=now) for mail_id in list(due.values_list("pk", flat=True)[:500]))


def _put_off(mail: AccountMail, now: dt.datetime, error: Exception) -> None:
    if mail.tries > len(_PAUSES):
        log.error("Gave up a %s mail after %d tries: %s", mail.kind, mail.tries, type(error).__name__)
        mail.delete()
        return
    log.warning("A %s mail could not be sent: %s", mail.kind, type(error).__name__)
    ours = AccountMail.objects.filter(pk=mail.pk).held_by(mail.claim)
    ours.release(next_try_at=now + _PAUSES[mail.tries - 1])


def _message(mail: AccountMail) -> EmailMultiAlternatives | None:
    """The mail in its reader's language; None where there is nobody, or nothing to tell."""
    letter = _letter(mail)
    if letter is None or not letter.user.is_active:
        return None
    try:
        _PER_MAILBOX[letter.kind].draw(User.objects.fold(letter.address))
    except RateLimitedError:
        return None
    with translation.override(letter.user.language):
        return _compose(letter)


def _letter(mail: AccountMail) -> Letter | None:
    """What a mail that was ordered is by now, by who has its address."""
    if mail.change:
        return Letter(MailKind.CHANGED, mail.change.owner, mail.change.old_email, mail.change)
    if mail.kind == MailKind.RESET:
        user = User.objects.recoverable_by(mail.address)
        return Letter(MailKind.RESET, user, user.recovery_email) if user else None
    holder = User.objects.with_proven_email(mail.address).first()
    if mail.owner is None:  # asked for by its address alone
        user = None if holder else User.objects.claiming(mail.address).first()
        return Letter(MailKind.VERIFY, user, user.email) if user else None
    if holder == mail.owner or User.objects.fold(mail.owner.email) != User.objects.fold(mail.address):
        return None
    if holder:
        return Letter(MailKind.TAKEN, holder, holder.recovery_email)
    return Letter(MailKind.VERIFY, mail.owner, mail.owner.email)


def _link(letter: Letter) -> str:
    if letter.change:
        page, token = "take-back", make_take_back_token(letter.change)
    elif letter.kind is MailKind.VERIFY:
        page, token = "verify-email", make_token(letter.user, Purpose.VERIFY)
    else:
        page, token = "reset-password", make_token(letter.user, Purpose.RESET)
    return f"{settings.BASE_URL}/account/{page}?token={token}"


def _compose(letter: Letter) -> EmailMultiAlternatives:
    text = text_of(letter)
    link = _link(letter)
    buttons = [{"kind": "open", "label": text.button, "url": link}]
    context = {"text": text, "link": link, "buttons": buttons, "language": letter.user.language}
    plain = render_to_string("email/account.txt", context)
    headers = {"Auto-Submitted": "auto-generated"}
    message = EmailMultiAlternatives(text.subject, plain, None, [letter.address], headers=headers)
    message.attach_alternative(render_to_string("email/account.html", context), "text/html")
    return message
