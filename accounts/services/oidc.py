"""Sign-in through the provider: finds the account for its claims, asks for the account's second factor, and completes.

The account is a linked one, one with the same verified address, or a new one.
"""

import datetime as dt
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from rest_framework import serializers

from accounts.cookies import drop_cookie, set_cookie
from accounts.fields import AccountEmailField, time_zones
from accounts.models import OidcIdentity, RegistrationLock, User
from accounts.oidc.app_requests import AppRequest, redirect_to_app
from accounts.oidc.flow import STATE_SECONDS, CookieState, Flow, FlowError, ProviderRefusedError
from accounts.services.addresses import address_write, prove_email, revoke_access_of_others
from accounts.services.registration import register_account
from accounts.services.second_factor import consume_code
from accounts.services.sessions import start_session
from accounts.services.sign_in import (
    SIGN_INS,
    EmailUnverifiedError,
    InvalidCredentialsError,
    count_failed_sign_ins,
    remember_device,
)
from accounts.services.tokens import issue_app_code
from contacts_project.kernel.api.fields import StrictCharField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.languages import best_language
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text

PROVIDER_UNVERIFIED = define_text("provider_unverified", "The sign-in provider has not verified your e-mail address.")
_WRONG_CODE = define_text("wrong_code", "The code is wrong.")

FLOW_COOKIE, FLOW_PATH = "oidc_flow", "/api/auth/oidc/"
PENDING_COOKIE = "oidc_sign_in"
# Only callers who have authenticated at the provider count against it, so strangers cannot lock the owner out.
CODE_ATTEMPTS = RateLimit("oidc-code", 10, 15 * 60)


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


@dataclass(frozen=True)
class PendingSignIn(CookieState):
    """A sign-in that the provider has confirmed and that waits for the code of the second factor."""

    user_id: str
    auth_hash: str  # compared at the end: a password changed since then ends this sign-in
    issuer: str
    subject: str
    next_path: str
    app: AppRequest | None = None

    @classmethod
    def of(cls, user: User, claims: JsonObject, flow: Flow) -> "PendingSignIn":
        auth_hash = user.get_session_auth_hash()
        return cls(time.time(), str(user.pk), auth_hash, claims["iss"], claims["sub"], flow.next_path, flow.app)


@count_failed_sign_ins()
def check_pending_code(*, pending: PendingSignIn, code: str, now: dt.datetime) -> User:
    """Check the code of the second factor and link the subject; returns the account.

    Raises FlowError, InvalidCredentialsError, RateLimitedError.
    """
    user = User.objects.filter(pk=pending.user_id, is_active=True).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), pending.auth_hash):
        raise FlowError
    CODE_ATTEMPTS.hit(pending.user_id)
    if not consume_code(user=user, code=code, now=now):
        raise InvalidCredentialsError(_WRONG_CODE)
    CODE_ATTEMPTS.undo(pending.user_id)
    link_account(user=user, issuer=pending.issuer, subject=pending.subject)
    return user


def set_pending_cookie(response: HttpResponseBase, pending: PendingSignIn) -> None:
    """Store the pending sign-in in a cookie, for the API and for the page that asks for the code."""
    set_cookie(response, PENDING_COOKIE, pending.to_cookie(), seconds=STATE_SECONDS, path="/")
    drop_cookie(response, FLOW_COOKIE, path=FLOW_PATH)


def complete_sign_in(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Start the session and drop the cookies of the flow."""
    start_session(request=request, user=user)
    SIGN_INS.count("ok")
    remember_device(request, response, user)
    _drop_flow_cookies(response)


def redirect_to_app_with_code(app: AppRequest, user: User) -> HttpResponse:
    """Redirect the browser to the app with a code; the browser itself is not signed in. Raises as issue_app_code."""
    response = redirect_to_app(app, code=issue_app_code(owner=user, challenge=app["code_challenge"]))
    _drop_flow_cookies(response)
    return response


def _drop_flow_cookies(response: HttpResponseBase) -> None:
    drop_cookie(response, FLOW_COOKIE, path=FLOW_PATH)
    drop_cookie(response, PENDING_COOKIE, path="/")
