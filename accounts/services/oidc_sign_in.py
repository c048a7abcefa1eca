"""Completion of a sign-in through the provider: at once, or after the account's second factor."""

import datetime as dt
import time
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare

from accounts.cookies import drop_cookie, set_cookie
from accounts.models import User
from accounts.oidc.app_requests import AppRequest, redirect_to_app
from accounts.oidc.cookie_state import STATE_SECONDS, CookieState, FlowError
from accounts.oidc.flow import Flow
from accounts.services.app_codes import issue_app_code
from accounts.services.credentials import SIGN_INS, InvalidCredentialsError, count_failed_sign_ins
from accounts.services.known_devices import remember_device
from accounts.services.oidc_accounts import link_account
from accounts.services.second_factor import consume_code
from accounts.services.sessions import start_session
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text

_WRONG_CODE = define_text("wrong_code", "The code is wrong.")

FLOW_COOKIE, FLOW_PATH = "oidc_flow", "/api/auth/oidc/"
PENDING_COOKIE = "oidc_sign_in"
# Only callers who have authenticated at the provider can draw on it, so strangers cannot lock the owner out.
CODE_ATTEMPTS = Budget("oidc-code", 10, 15 * 60)


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
    CODE_ATTEMPTS.draw(pending.user_id)
    if not consume_code(user=user, code=code, now=now):
        raise InvalidCredentialsError(_WRONG_CODE)
    CODE_ATTEMPTS.give_back(pending.user_id)
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
