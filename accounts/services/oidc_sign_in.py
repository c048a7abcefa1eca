"""The end of a sign-in through the provider: at once, or with the account's second factor."""

import datetime as dt
import time
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare

from accounts.cookies import drop_cookie, set_cookie
from accounts.models import User
from accounts.oidc.app_requests import AppRequest, lead_back
from accounts.oidc.cookie_state import STATE_SECONDS, CookieState, FlowError
from accounts.oidc.flow import Flow
from accounts.services.app_codes import issue_app_code
from accounts.services.credentials import SIGN_INS, InvalidCredentialsError, counting_refusals
from accounts.services.known_devices import remember_device
from accounts.services.oidc_accounts import link_account
from accounts.services.second_factor import spend_code
from accounts.services.sessions import start_session
from contacts_project.kernel.budgets import Budget

FLOW_COOKIE, FLOW_PATH = "oidc_flow", "/api/auth/oidc/"
PENDING_COOKIE = "oidc_sign_in"
# Drawn on only by those whom the provider has let through: no stranger uses it up.
CODES = Budget("oidc-code", 10, 15 * 60)


@dataclass(frozen=True)
class PendingSignIn(CookieState):
    """The provider has said whose account it is; the code is still to come."""

    user_id: str
    auth_hash: str  # a new password since then ends this sign-in
    issuer: str
    subject: str
    next_path: str
    app: AppRequest | None = None

    @classmethod
    def of(cls, user: User, claims: dict[str, Any], begun: Flow) -> "PendingSignIn":
        auth_hash = user.get_session_auth_hash()
        return cls(time.time(), str(user.pk), auth_hash, claims["iss"], claims["sub"], begun.next_path, begun.app)


@counting_refusals()
def finish_with_code(*, pending: PendingSignIn, code: str, now: dt.datetime) -> User:
    """The account that the code opens, linked. Raises FlowError, InvalidCredentialsError, RateLimitedError."""
    user = User.objects.filter(pk=pending.user_id, is_active=True).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), pending.auth_hash):
        raise FlowError
    CODES.draw(pending.user_id)
    if not spend_code(user=user, code=code, now=now):
        raise InvalidCredentialsError("The code is wrong.")
    CODES.give_back(pending.user_id)
    link_account(user=user, issuer=pending.issuer, subject=pending.subject)
    return user


def remember_pending(response: HttpResponseBase, pending: PendingSignIn) -> None:
    """Have the browser come back with it, by the API or by our page."""
    set_cookie(response, PENDING_COOKIE, pending.to_cookie(), seconds=STATE_SECONDS, path="/")
    drop_cookie(response, FLOW_COOKIE, path=FLOW_PATH)


def complete_sign_in(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Sign the account in; what the browser held for the sign-in goes."""
    start_session(request=request, user=user)
    SIGN_INS.count("ok")
    remember_device(request, response, user)
    _forget_steps(response)


def lead_back_signed_in(app: AppRequest, user: User) -> HttpResponse:
    """Send the browser to the app with a code; the browser itself is not signed in. Raises as issue_app_code."""
    response = lead_back(app, code=issue_app_code(owner=user, challenge=app["code_challenge"]))
    _forget_steps(response)
    return response


def _forget_steps(response: HttpResponseBase) -> None:
    drop_cookie(response, FLOW_COOKIE, path=FLOW_PATH)
    drop_cookie(response, PENDING_COOKIE, path="/")
