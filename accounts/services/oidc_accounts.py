"""Which account a provider's claims open: a known one, one with the same verified address, or a new one."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.db import transaction
from rest_framework import serializers

from accounts.fields import AccountEmail, time_zones
from accounts.languages import best_language
from accounts.models import OidcIdentity, RegistrationLock, User
from accounts.oidc.cookie_state import FlowError
from accounts.oidc.flow import ProviderRefusedError
from accounts.services.access_revocation import revoke_access_of_others
from accounts.services.addresses import address_write, prove_email
from accounts.services.credentials import EmailUnverifiedError, InvalidCredentialsError
from accounts.services.registration import register_account
from contacts_project.kernel.api.fields import StrictCharField
from contacts_project.kernel.ownership.account_lock import account_write


def account_for(*, claims: dict[str, Any], accept_language: str, now: dt.datetime) -> User:
    """The account to sign in to. The subject is linked to it by `link_account`, once the sign-in is complete.

    Raises EmailUnverifiedError where the provider does not vouch for the address: an account is found by its address
    only when it does. Raises RegistrationClosedError where a new one may not be made.
    """
    issuer, subject = claims["iss"], claims["sub"]
    if not isinstance(subject, str) or len(issuer) > 255 or len(subject) > 255:
        raise ProviderRefusedError
    identity = OidcIdentity.unscoped.rows().select_related("owner").filter(issuer=issuer, subject=subject).first()
    user = identity.owner if identity else _by_verified_address(claims, accept_language, now)
    if not user.is_active:
        raise InvalidCredentialsError
    return user


def link_account(*, user: User, issuer: str, subject: str) -> None:
    """Let the provider's subject sign in to the account from now on. Raises FlowError where it has another one."""
    linked = OidcIdentity.unscoped.rows().filter(issuer=issuer, subject=subject)
    owners = linked.values_list("owner_id", flat=True)
    if not owners:
        with account_write(user):
            OidcIdentity.unscoped.rows().get_or_create(issuer=issuer, subject=subject, defaults={"owner": user})
            owners = linked.values_list("owner_id", flat=True)
    if list(owners) != [user.pk]:
        raise FlowError


def _by_verified_address(claims: dict[str, Any], accept_language: str, now: dt.datetime) -> User:
    email = _clean(AccountEmail(), claims.get("email"))
    verified = claims.get("email_verified")
    if not email or not (verified is True or verified == "true"):  # some providers send it as a text
        raise EmailUnverifiedError("The sign-in provider has not verified your e-mail address.")
    with transaction.atomic():
        RegistrationLock.take()
        user = User.objects.recoverable_by(email)
        if user is None:
            return register_account(
                email=email, password=None, vouched_at=now, **_profile(claims, accept_language, email)
            )
        return user if user.is_claimed or not user.is_active else _claim(user, email, now)


def _claim(user: User, email: str, now: dt.datetime) -> User:
    """Make an account that nobody has claimed its address's owner's: nothing of who made it opens it any more."""
    with address_write(user) as stored:
        revoke_access_of_others(stored)
        stored.set_unusable_password()
        stored.email = stored.recovery_email
        prove_email(stored, email, claims=True, now=now)
    return stored


def _profile(claims: dict[str, Any], accept_language: str, email: str) -> dict[str, Any]:
    """What a new account takes over from its provider."""
    given, family = _name(claims.get("given_name")), _name(claims.get("family_name"))
    locale, zone = claims.get("locale"), claims.get("zoneinfo")
    return {
        "name": given or _name(claims.get("name")) or email.partition("@")[0],
        "surname": family if given else None,
        "language": best_language(locale.replace("_", "-") if isinstance(locale, str) else accept_language),
        "time_zone": zone if isinstance(zone, str) and zone in time_zones() else settings.ACCOUNT_TIME_ZONE,
    }


def _name(claim: Any) -> str | None:
    name = claim[:100] if isinstance(claim, str) else claim
    return _clean(StrictCharField(max_length=100, allow_null=True), name)


def _clean(field: "serializers.Field[Any, Any, Any, Any]", value: Any) -> str | None:
    """What the field takes of it; None where it takes nothing."""
    try:
        cleaned: str | None = field.run_validation(value)
    except serializers.ValidationError:
        return None
    return cleaned
