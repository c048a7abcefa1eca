"""Checks of accounts for `manage.py doctor`."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, register
from django.core.checks import Warning as Caution
from django.db import DatabaseError

from accounts.models import AccountMail, User
from accounts.services.registration import awaits_operator
from contacts_project.kernel.outbound import OutboundError, configured_rules

TAG = "doctor"
_CONSOLE = "django.core.mail.backends.console.EmailBackend"


@register(TAG, deploy=True)
def check_accounts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Check the settings of sign-in, who can register and operate, and whether mails can be sent."""
    try:
        return [*_settings(), *_registration(), *_mail()]
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


def _mail() -> Iterator[CheckMessage]:
    if settings.EMAIL_BACKEND == _CONSOLE:
        level = Error if settings.EMAIL_VERIFICATION == "mandatory" else Caution
        hint = "Set EMAIL_URL, for example smtp+tls://user:password@host:587."
        yield level("Mails are printed to the console and not sent.", hint=hint, id="doctor.W035")
    stuck = AccountMail.objects.filter(tries__gte=2).count()
    if stuck:
        yield Caution(f"{stuck} mails could not be sent so far.", hint="Check EMAIL_URL and the log.", id="doctor.W036")
