"""Which account a provider's claims open: a known one, one with the same verified address, or a new one."""

import datetime as dt
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.api.serializers.fields import AccountEmail, time_zones
from accounts.languages import best_language
from accounts.models import OidcIdentity, User
from accounts.oidc.flow import ProviderRefusedError
from accounts.services.claiming import shut_out_maker
from accounts.services.registration import register_account
from accounts.services.second_factor import stop_totp
from accounts.services.signing_in import EmailUnverifiedError, InvalidCredentialsError
from contacts_project.kernel.api.errors import FieldError
from contacts_project.kernel.api.fields import Text
from contacts_project.kernel.ownership.writing import account_write


def account_for(*, claims: dict[str, Any], accept_language: str, now: dt.datetime) -> User:
    """The account to sign in to.

    Raises EmailUnverifiedError where the provider does not vouch for the address: an account is found by its address
    only when it does. Raises RegistrationClosedError where a new one may not be made.
    """
    issuer, subject = claims["iss"], claims["sub"]
    if not isinstance(subject, str) or len(issuer) > 255 or len(subject) > 255:
        raise ProviderRefusedError
    identity = OidcIdentity.unscoped.rows().select_related("owner").filter(issuer=issuer, subject=subject).first()
    if identity is None:
        user = _by_verified_address(claims, accept_language, now)
        with account_write(user):
            OidcIdentity.unscoped.rows().get_or_create(issuer=issuer, subject=subject, defaults={"owner": user})
    else:
        user = identity.owner
    if not user.is_active:
        raise InvalidCredentialsError
    return user


def _by_verified_address(claims: dict[str, Any], accept_language: str, now: dt.datetime) -> User:
    email = _clean(AccountEmail(required=True), claims.get("email"))
    verified = claims.get("email_verified")
    if not email or not (verified is True or verified == "true"):  # some providers send it as a text
        raise EmailUnverifiedError("The sign-in provider has not verified your e-mail address.")
    if user := User.objects.with_email(email).first():
        return _take_over(user, now)
    try:
        registration = register_account(email=email, password=None, **_profile(claims, accept_language, email, now))
    except FieldError:  # somebody was quicker
        registration = None
    if registration and registration.is_real:
        return registration.user
    return _take_over(User.objects.with_email(email).get(), now)


def _take_over(user: User, now: dt.datetime) -> User:
    """Make an account its address's owner's. Where the address had not been verified, somebody else may have made the
    account: then nothing of theirs opens it any more.
    """
    if user.email_verified:
        return user
    with account_write(user):
        user = User.objects.get(pk=user.pk)
        user.set_unusable_password()
        user.email_verified_at = now
        user.save(update_fields=["password", "email_verified_at", "updated_at"])
        stop_totp(user=user)
        shut_out_maker(user)
    return user


def _profile(claims: dict[str, Any], accept_language: str, email: str, now: dt.datetime) -> dict[str, Any]:
    """What a new account takes over from its provider."""
    given, family = _name(claims.get("given_name")), _name(claims.get("family_name"))
    locale, zone = claims.get("locale"), claims.get("zoneinfo")
    return {
        "name": given or _name(claims.get("name")) or email.partition("@")[0],
        "surname": family if given else None,
        "language": best_language(locale.replace("_", "-") if isinstance(locale, str) else accept_language),
        "time_zone": zone if isinstance(zone, str) and zone in time_zones() else settings.ACCOUNT_TIME_ZONE,
        "email_verified_at": now,
    }


def _name(claim: Any) -> str | None:
    return _clean(Text(100), claim[:100] if isinstance(claim, str) else claim)


def _clean(field: "serializers.Field[Any, Any, Any, Any]", value: Any) -> str | None:
    """What the field takes of it; None where it takes nothing."""
    try:
        cleaned: str | None = field.run_validation(value)
    except serializers.ValidationError:
        return None
    return cleaned
