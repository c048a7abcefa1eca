"""Checks of accounts for `manage.py doctor`."""

import smtplib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.utils import parseaddr
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, register
from django.core.checks import Warning as Caution
from django.core.mail import get_connection
from django.core.mail.backends.smtp import EmailBackend
from django.db import DatabaseError

from accounts.models import AccountMail, User
from accounts.models.user import verification_is_mandatory
from accounts.services.registration import awaits_operator
from contacts_project.kernel.outbound.failures import OutboundError, describe_mail_error
from contacts_project.kernel.outbound.session import configured_rules
from contacts_project.kernel.text_forms import ascii_domain, mail_address

TAG = "doctor"
_MAX_SHOWN_IDS = 10
_CONSOLE = "django.core.mail.backends.console.EmailBackend"


@register(TAG, deploy=True)
def check_accounts(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Check the settings of sign-in, who can register and operate, and whether mails can be sent."""
    try:
        return [*_settings(), *_registration(), *_addresses(), *_mail()]
    except DatabaseError:
        return []  # check_parts reports the database


def _settings() -> Iterator[CheckMessage]:
    if settings.OIDC_ISSUER and not settings.OIDC_CLIENT_ID:
        yield Error("OIDC_ISSUER is set without OIDC_CLIENT_ID.", hint="Set both, or neither.", id="doctor.E031")
    if settings.OIDC_APP_REDIRECT_URIS and not settings.OIDC_ISSUER:
        hint = "Set OIDC_ISSUER, or unset OIDC_APP_REDIRECT_URIS: apps sign in by POST /api/auth/token."
        yield Caution("OIDC_APP_REDIRECT_URIS is set without OIDC_ISSUER.", hint=hint, id="doctor.W039")
    if settings.OIDC_ISSUER:
        try:
            configured_rules().check_url(settings.OIDC_ISSUER)
        except OutboundError as error:
            hint = "Correct OIDC_ISSUER, or see OUTBOUND_ALLOWED_NETWORKS and OUTBOUND_ALLOWED_PORTS."
            yield Error(f"The outbound policy refuses OIDC_ISSUER: {error}", hint=hint, id="doctor.E038")


def _registration() -> Iterator[CheckMessage]:
    if awaits_operator():
        hint = "Register now: the first account becomes the operator's."
        yield Caution("Nobody has registered yet.", hint=hint, id="doctor.W032")
    elif not User.objects.filter(is_superuser=True, is_active=True).exists():
        hint = "Make one: manage.py createsuperuser."
        yield Caution("No active account is an operator's.", hint=hint, id="doctor.W033")
    elif settings.REGISTRATION == "open":
        hint = "If that is not meant, set REGISTRATION=closed."
        yield Info("Anybody who reaches this service can register.", hint=hint, id="doctor.I034")


def _addresses() -> Iterator[CheckMessage]:
    """Stored addresses are reported only: nobody but their owners may say which mailbox they mean."""
    respelled: list[str] = []
    shadowed: list[str] = []
    for user_id, *addresses, key in User.objects.values_list(
        "pk", "email", "proven_email", "proven_email_key"
    ).iterator():
        if any(address and not _is_in_today_s_form(address) for address in addresses):
            respelled.append(str(user_id))
        if key and key.endswith(f" {user_id.hex}"):
            shadowed.append(str(user_id))
    if respelled:
        yield Caution(
            f"{_list(respelled)} an e-mail address whose domain is spelt otherwise by IDNA 2008, or is none.",
            hint="Ask their owners to enter it again in their profile. Nothing was rewritten.",
            id="doctor.W071",
        )
    if shadowed:
        yield Caution(
            f"{_list(shadowed)} a proven e-mail address that an older account has proven in another spelling.",
            hint="Only the older account can reset its password by mail. Ask their owners to enter another address.",
            id="doctor.W072",
        )


def _is_in_today_s_form(address: str) -> bool:
    if address.isascii() and "xn--" not in address:
        return True
    try:
        ascii_domain(address.rpartition("@")[2])
    except UnicodeError:
        return False
    return User.objects.normalize_email(address) == address


def _list(user_ids: list[str]) -> str:
    """The subject of a sentence that goes on with what they have."""
    shown = ", ".join(user_ids[:_MAX_SHOWN_IDS]) + (" ..." if len(user_ids) > _MAX_SHOWN_IDS else "")
    return f"1 account ({shown}) has" if len(user_ids) == 1 else f"{len(user_ids)} accounts ({shown}) have"


def _mail_server(connection: EmailBackend) -> Iterator[CheckMessage]:
    """Offer the mail server a mail, as far as its recipient. Strict servers say only there what they refuse before."""
    operator = User.objects.filter(is_superuser=True, is_active=True).order_by("created_at").first()
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    recipient = mail_address(operator.recovery_email) if operator else sender
    try:
        connection.open()
        smtp: Any = connection.connection
        smtp.ehlo_or_helo_if_needed()
        code, reply = smtp.mail(sender)
        if code != 250:
            raise smtplib.SMTPSenderRefused(code, reply, sender)
        code, reply = smtp.rcpt(recipient)
        if code not in {250, 251}:
            raise smtplib.SMTPRecipientsRefused({recipient: (code, reply)})
        smtp.rset()
    except (smtplib.SMTPException, OSError) as error:
        text = f"The mail server does not take mails: {describe_mail_error(error)}."
        hint = (
            f"Check EMAIL_URL; EMAIL_DOMAIN, by which it is greeted ({settings.EMAIL_DOMAIN}); and DEFAULT_FROM_EMAIL."
        )
        yield Error(text, hint=hint, id="doctor.E081")
    finally:
        with suppress(smtplib.SMTPException, OSError):
            connection.close()


def _mail() -> Iterator[CheckMessage]:
    if settings.EMAIL_BACKEND == _CONSOLE:
        level = Error if verification_is_mandatory() else Caution
        hint = "Set EMAIL_URL, for example smtp+tls://user:password@host:587."
        yield level("Mails are printed to the console and not sent.", hint=hint, id="doctor.W035")
    elif isinstance(connection := get_connection(), EmailBackend):
        yield from _mail_server(connection)
    stuck = AccountMail.objects.filter(tries__gte=2).count()
    if stuck:
        yield Caution(f"{stuck} mails could not be sent so far.", hint="Check EMAIL_URL and the log.", id="doctor.W036")
