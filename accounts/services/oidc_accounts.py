"""Finds the account for a provider's claims: a linked one, one with the same verified address, or a new one."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.db import transaction
from rest_framework import serializers

from accounts.fields import AccountEmailField, time_zones
from accounts.models import OidcIdentity, RegistrationLock, User
from accounts.oidc.cookie_state import FlowError
from accounts.oidc.flow import ProviderRefusedError
from accounts.services.access_revocation import revoke_access_of_others
from accounts.services.addresses import address_write, prove_email
from accounts.services.credentials import EmailUnverifiedError, InvalidCredentialsError
from accounts.services.registration import register_account
from contacts_project.kernel.api.fields import StrictCharField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.languages import best_language
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text

PROVIDER_UNVERIFIED = define_text("provider_unverified", "The sign-in provider has not verified your e-mail address.")


def find_or_register_account(*, claims: JsonObject, accept_language: str, now: dt.datetime) -> User:
    """Return the account to sign in to; register one if there is none.

    The subject is not linked to it yet: `link_account` does that once the sign-in is complete, with second factor.
    Raises EmailUnverifiedError if the provider has not verified the address, ProviderRefusedError,
    InvalidCredentialsError for an account that is switched off, and RegistrationClosedError.
    """
    issuer, subject = claims["iss"], claims["sub"]
    # The columns hold 255 characters (OpenID Connect Core, section 2, allows a subject no more).
    if not isinstance(subject, str) or len(issuer) > 255 or len(subject) > 255:
        raise ProviderRefusedError
    identity = OidcIdentity.unscoped.rows().select_related("owner").filter(issuer=issuer, subject=subject).first()
    user = identity.owner if identity else _find_or_register_by_email(claims, accept_language, now)
    if not user.is_active:
        raise InvalidCredentialsError
    return user


def link_account(*, user: User, issuer: str, subject: str) -> None:
    """Link the provider's subject to the account. Raises FlowError if it is linked to another account."""
    linked = OidcIdentity.unscoped.rows().filter(issuer=issuer, subject=subject)
    owners = linked.values_list("owner_id", flat=True)
    if not owners:
        with account_write(user):
            # A concurrent sign-in of the same subject may have linked it, even to another account: read it again.
            OidcIdentity.unscoped.rows().get_or_create(issuer=issuer, subject=subject, defaults={"owner": user})
            owners = linked.values_list("owner_id", flat=True)
    if list(owners) != [user.pk]:
        raise FlowError


def _find_or_register_by_email(claims: JsonObject, accept_language: str, now: dt.datetime) -> User:
    email = _clean_claim(AccountEmailField(), claims.get("email"))
    verified = claims.get("email_verified")
    # An unverified address must not find an account: anybody could enter someone else's address at the provider.
    if not email or not (verified is True or verified == "true"):  # some providers send it as a string
        raise EmailUnverifiedError(PROVIDER_UNVERIFIED)
    with transaction.atomic():
        # Nobody may register or prove the address between the look-up and the registration.
        RegistrationLock.acquire()
        user = User.objects.recoverable_by(email)
        if user is None:
            return register_account(
                email=email, password=None, vouched_at=now, **_profile_from_claims(claims, accept_language, email)
            )
        return user if user.is_claimed or not user.is_active else _claim_for_owner(user, email, now)


def _claim_for_owner(user: User, email: str, now: dt.datetime) -> User:
    """Hand an unclaimed account over to the owner of its address. Whoever registered it may be someone else, so all of
    their credentials are revoked."""
    with address_write(user) as stored:
        revoke_access_of_others(stored)
        stored.set_unusable_password()
        stored.email = stored.recovery_email
        prove_email(stored, email, claims=True, now=now)
    return stored


def _profile_from_claims(claims: JsonObject, accept_language: str, email: str) -> JsonObject:
    """The fields of a new account, as far as the provider sends usable values."""
    given, family = _clean_name(claims.get("given_name")), _clean_name(claims.get("family_name"))
    locale, zone = claims.get("locale"), claims.get("zoneinfo")
    return {
        "name": given or _clean_name(claims.get("name")) or email.partition("@")[0],
        "surname": family if given else None,
        "language": best_language(locale.replace("_", "-") if isinstance(locale, str) else accept_language),
        "time_zone": zone if isinstance(zone, str) and zone in time_zones() else settings.ACCOUNT_TIME_ZONE,
    }


def _clean_name(claim: object) -> str | None:
    name = claim[:100] if isinstance(claim, str) else claim
    return _clean_claim(StrictCharField(max_length=100, allow_null=True), name)


def _clean_claim(field: "serializers.Field[Any, Any, Any, Any]", value: object) -> str | None:
    """The value as validated by the field; None if it is invalid."""
    try:
        cleaned: str | None = field.run_validation(value)
    except serializers.ValidationError:
        return None
    return cleaned
