"""Mails about the account: to verify an address, to set a new password, to undo a change of address.

A mail is queued as a row in the caller's transaction; a task sends it after the commit. Its link has a token that is
signed, for one purpose, expiring, and usable once: the token contains a fingerprint of the value that it is to change,
which no longer matches once the value has changed. So it works once without being stored.
"""

import datetime as dt
import logging
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from accounts.models import AccountMail, EmailChange, MailKind, User
from accounts.models.user import verification_is_mandatory
from accounts.signals import mail_queued
from contacts_project.kernel.errors import FieldError, RateLimitedError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.outbound.failures import describe_mail_error
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.text_forms import mail_address
from contacts_project.kernel.texts import define_text

_USED_LINK = define_text("used_link", "This link was used already, or is too old. Ask for another one.")

log = logging.getLogger(__name__)

# No other process sends the mail meanwhile. If this one is killed, the mail may have been sent; it is sent again.
_LEASE = dt.timedelta(minutes=5)
_RETRY_DELAYS = [dt.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 300, 600)]
# Anybody can request mails to any address, so each mailbox gets at most ten of a kind an hour. Each kind has its own
# limit: a stranger who requests many of one kind must not suppress another, such as the alert about a changed address.
_MAILBOX_LIMITS = {kind: RateLimit(f"account-mail-{kind.lower()}", 10, 3600) for kind in MailKind}
_TAKE_BACK = "accounts.link.take-back"


class LinkPurpose(StrEnum):
    """What a link is for. Part of the salt of the signature, so that a token works for no other purpose."""

    VERIFY = "verify"
    RESET = "reset"


MAX_AGE_SECONDS = {LinkPurpose.VERIFY: 3 * 24 * 3600, LinkPurpose.RESET: 3600}


@dataclass(frozen=True)
class ResolvedMail:
    """A mail ready to be written: to `address`, about the account `user`; `change` is the change of address to undo."""

    kind: MailKind
    user: User
    address: str
    change: EmailChange | None = None

    @property
    def is_proven(self) -> bool:
        """Whether the account has shown that the mails of the address reach its owner."""
        proven = self.user.proven_email
        return proven is not None and User.objects.fold_email(proven) == User.objects.fold_email(self.address)


@dataclass(frozen=True)
class MailText:
    """The text of one mail. `button` labels the link; `footer` addresses readers who did not request the mail."""

    subject: str
    greeting: str
    lines: tuple[str, ...]
    button: str
    footer: str


def queue_mail(*, kind: MailKind, address: str, user: User | None = None, change: EmailChange | None = None) -> None:
    """Queue a mail to `address`."""
    # Nothing is looked up about the address here: the response time must not reveal whether it has an account.
    mail = AccountMail.objects.create(kind=kind, address=User.objects.fold_email(address), owner=user, change=change)
    # If the broker is down, the minutely sweep finds the row, so an error of the task is only logged (robust).
    transaction.on_commit(lambda: mail_queued.send(sender=AccountMail, mail_id=mail.pk), robust=True)


def send_mail(*, mail_id: UUID, now: dt.datetime) -> bool:
    """Send one mail if it is due and not leased; returns whether it was sent. Running twice sends it once."""
    due = AccountMail.objects.filter(pk=mail_id, next_try_at__lte=now)
    claim = due.acquire(_LEASE, clock=now, tries=F("tries") + 1)
    if claim is None:
        return False
    mail = AccountMail.objects.select_related("owner", "change__owner").get(pk=mail_id)
    message = _build_message(mail)
    if message is None:
        mail.delete()
        return False
    try:
        message.send()
    except Exception as error:  # noqa: BLE001 - one mail that cannot be sent must not block the others
        _schedule_retry(mail, now, error)
        return False
    mail.delete()
    return True


def send_due_mails(*, now: dt.datetime) -> int:
    """Send all due mails, including those that a crash or an unavailable mail server left; returns how many."""
    due = AccountMail.objects.filter(next_try_at__lte=now).free(now).order_by("next_try_at", "pk")
    return sum(send_mail(mail_id=mail_id, now=now) for mail_id in list(due.values_list("pk", flat=True)[:500]))


def _schedule_retry(mail: AccountMail, now: dt.datetime, error: Exception) -> None:
    if mail.tries > len(_RETRY_DELAYS):
        log.error("Gave up a %s mail after %d tries: %s", mail.kind, mail.tries, describe_mail_error(error))
        mail.delete()
        return
    log.warning("A %s mail could not be sent: %s", mail.kind, describe_mail_error(error))
    ours = AccountMail.objects.filter(pk=mail.pk).held_by(mail.claim)
    ours.release(next_try_at=now + _RETRY_DELAYS[mail.tries - 1])


def _build_message(mail: AccountMail) -> EmailMultiAlternatives | None:
    """The message in the recipient's language; None if there is no recipient, or its mailbox had too many mails."""
    resolved = _resolve(mail)
    if resolved is None or not resolved.user.is_active:
        return None
    try:
        _MAILBOX_LIMITS[resolved.kind].hit(User.objects.fold_email(resolved.address))
    except RateLimitedError:
        return None
    with translation.override(resolved.user.language):
        return _compose(resolved)


def _resolve(mail: AccountMail) -> ResolvedMail | None:
    """Decide what a requested mail is about, by who has its address now; None if nobody is to get it."""
    if mail.change:
        return ResolvedMail(MailKind.CHANGED, mail.change.owner, mail.change.old_email, mail.change)
    if mail.kind == MailKind.RESET:
        user = User.objects.recoverable_by(mail.address)
        return ResolvedMail(MailKind.RESET, user, user.recovery_email) if user else None
    holder = User.objects.with_proven_email(mail.address).first()
    if mail.owner is None:  # requested by address alone
        user = None if holder else User.objects.claiming(mail.address).first()
        return ResolvedMail(MailKind.VERIFY, user, user.email) if user else None
    # The account has proven the address since, or has changed it again.
    if holder == mail.owner or User.objects.fold_email(mail.owner.email) != User.objects.fold_email(mail.address):
        return None
    if holder:
        return ResolvedMail(MailKind.TAKEN, holder, holder.recovery_email)
    return ResolvedMail(MailKind.VERIFY, mail.owner, mail.owner.email)


def _build_link(resolved: ResolvedMail) -> str:
    if resolved.change:
        page, token = "take-back", make_take_back_token(resolved.change)
    elif resolved.kind is MailKind.VERIFY:
        page, token = "verify-email", make_link_token(resolved.user, LinkPurpose.VERIFY)
    else:
        page, token = "reset-password", make_link_token(resolved.user, LinkPurpose.RESET)
    return f"{settings.BASE_URL}/account/{page}?token={token}"


def _compose(resolved: ResolvedMail) -> EmailMultiAlternatives:
    text = build_mail_text(resolved)
    link = _build_link(resolved)
    buttons = [{"kind": "open", "label": text.button, "url": link}]
    context = {"text": text, "link": link, "buttons": buttons, "language": resolved.user.language}
    plain = render_to_string("email/account.txt", context)
    headers = {"Auto-Submitted": "auto-generated"}
    message = EmailMultiAlternatives(text.subject, plain, None, [mail_address(resolved.address)], headers=headers)
    message.attach_alternative(render_to_string("email/account.html", context), "text/html")
    return message


def build_mail_text(resolved: ResolvedMail) -> MailText:
    greeting = _greeting(resolved)
    if resolved.change:
        return _changed_text(greeting, resolved.change)
    if resolved.kind is MailKind.RESET:
        return _reset_text(greeting)
    if resolved.kind is MailKind.TAKEN:
        return _taken_text(greeting)
    return _new_address_text(greeting) if resolved.user.proven_email else _first_address_text(greeting, resolved.user)


def _greeting(resolved: ResolvedMail) -> str:
    """With the account's name only where an address is proven.

    Anybody can register with, or move to, an address of somebody else, whose mail must not carry what they call
    themselves: a name can be a sentence with a link.
    """
    if not resolved.is_proven:
        return _("Hello,")
    return _("Hello %(name)s,") % {"name": resolved.user.nickname or resolved.user.name}


def _first_address_text(greeting: str, user: User) -> MailText:
    lines = [_("please confirm that this is your e-mail address."), _("The link works for three days.")]
    others = User.objects.claiming(user.email).filter(proven_email=None).exclude(pk=user.pk)
    if verification_is_mandatory() and others.exists():
        lines.append(
            _("Another account was made with this address, and nobody has confirmed it. The link removes that account.")
        )
    return MailText(
        _("Verify your e-mail address"),
        greeting,
        tuple(lines),
        _("Verify the address"),
        _("If you did not sign up, ignore this mail: nothing will happen."),
    )


def _new_address_text(greeting: str) -> MailText:
    return MailText(
        _("Confirm your new e-mail address"),
        greeting,
        (
            _("please confirm that this is the new e-mail address of your account."),
            _("You need to be signed in, or to enter your password. The link works for three days."),
        ),
        _("Confirm the new address"),
        _("If this is not your account, ignore this mail: nothing will happen."),
    )


def _reset_text(greeting: str) -> MailText:
    return MailText(
        _("Set a new password"),
        greeting,
        (_("a new password was asked for your account."), _("The link works once, for one hour.")),
        _("Set a new password"),
        _("If it was not you, ignore this mail: your password stays as it is."),
    )


def _changed_text(greeting: str, change: EmailChange) -> MailText:
    return MailText(
        _("The e-mail address of your account was changed"),
        greeting,
        (
            _("the address of your account is to be %(email)s from now on.") % {"email": change.new_email},
            _(
                "If it was not you, take the change back: everybody is signed out, and a mail with a link for a new "
                "password comes to this address."
            ),
            _("The link works for seven days, also after the new address was confirmed."),
        ),
        _("Take the change back"),
        _("If it was you, ignore this mail."),
    )


def _taken_text(greeting: str) -> MailText:
    return MailText(
        _("You already have an account"),
        greeting,
        (
            _(
                "somebody, probably you, wanted to use this e-mail address for another account. It has an account "
                "already."
            ),
            _("Sign in with it. If you have forgotten the password, set a new one; the link works for one hour."),
        ),
        _("Set a new password"),
        _("If it was not you, ignore this mail: nothing has changed."),
    )


def make_link_token(user: User, purpose: LinkPurpose) -> str:
    """Create a token; it consists of letters, digits, `-`, `_` and `.`."""
    return _signer(purpose).sign_object([str(user.pk), _fingerprint(user, purpose)])


def read_link_token(token: str, purpose: LinkPurpose) -> User:
    """The account that a token was created for. Raises FieldError, the same one for every invalid token."""
    try:
        key, fingerprint = _signer(purpose).unsign_object(token, max_age=MAX_AGE_SECONDS[purpose])
    except (signing.BadSignature, ValueError, TypeError):
        raise invalid_token_error() from None
    user = User.objects.filter(pk=parse_id(key) or UUID(int=0), is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user, purpose)):
        raise invalid_token_error()
    return user


def make_take_back_token(change: EmailChange) -> str:
    """Create a token that undoes this change of address."""
    # No fingerprint and no expiry: the row limits its lifetime (`ends_at`), and using it deletes the row.
    return signing.Signer(sep=".", salt=_TAKE_BACK).sign_object(str(change.pk))


def read_take_back_token(token: str, now: dt.datetime) -> EmailChange:
    """The change that a token undoes, with its account. Raises FieldError, the same one for every invalid token."""
    try:
        key = signing.Signer(sep=".", salt=_TAKE_BACK).unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        raise invalid_token_error() from None
    rows = EmailChange.unscoped.rows().select_related("owner").with_id(key)
    change: EmailChange | None = rows.filter(owner__is_active=True).first()
    if change is None or change.ends_at <= now:
        raise invalid_token_error()
    return change


def _signer(purpose: LinkPurpose) -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt=f"accounts.link.{purpose}")


def _fingerprint(user: User, purpose: LinkPurpose) -> str:
    fold = User.objects.fold_email  # another spelling of the address must not invalidate the link
    if purpose is LinkPurpose.RESET:
        state = f"{fold(user.recovery_email)}|{user.password}"
    else:
        state = f"{fold(user.email)}|{fold(user.proven_email or '')}"
    return salted_hmac(f"accounts.fingerprint.{purpose}", state, algorithm="sha256").hexdigest()[:32]


def invalid_token_error() -> FieldError:
    """The error for every token that does not work. It does not reveal why, or whether there is an account."""
    return FieldError("token", _USED_LINK)
