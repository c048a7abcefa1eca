"""Authentication of API requests: a bearer token if such a header is sent, otherwise the session cookie (open points,
sections 1 and 2)."""

from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.services.sessions import find_end_of_session, find_end_of_token, record_session_use
from accounts.services.tokens import is_token_text, token_in_use
from accounts.vocabularies import EndReason, TokenScope
from contacts_project.kernel.api.errors import CSRF_FAILED, ForbiddenError
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.texts import Text, define_text

_UNKNOWN_TOKEN = define_text("unknown_token", "The API token is not valid, or has expired.")


class EndedCredentialError(exceptions.AuthenticationFailed):
    """The session or token of the request ended within the last 120 days; `code` says why."""

    TEXTS: Mapping[EndReason, Text] = {
        EndReason.EXPIRED: define_text("session_expired", "This session or API token has expired. Sign in again."),
        EndReason.REVOKED: define_text("session_revoked", "This session or API token was ended. Sign in again."),
        EndReason.DELETED: AccountGoneError.message,
    }

    def __init__(self, reason: EndReason) -> None:
        text = self.TEXTS[reason]
        super().__init__(str(text), code=text.code)
        self.code = str(reason)


def bearer_text(request: Request) -> str | None:
    """What stands behind `Bearer` in the Authorization header; None without such a header."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    # Other schemes are not for this service: browsers send the Basic header of a proxy with every request.
    return text.strip() if scheme.lower() == "bearer" else None


class BearerAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer <API token>`. With such a header, valid or not, the session cookie is ignored."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        token = bearer_text(request)
        if token is None:
            return None
        if not is_token_text(token):
            raise exceptions.AuthenticationFailed
        row = token_in_use(text=token, now=timezone.now())
        if row is None:
            if reason := find_end_of_token(text=token, now=timezone.now()):
                raise EndedCredentialError(reason)
            raise exceptions.AuthenticationFailed(str(_UNKNOWN_TOKEN), code=_UNKNOWN_TOKEN.code)
        return row.owner, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class CsrfError(exceptions.PermissionDenied):
    """A write with a session cookie has no valid CSRF token, or comes from another site."""


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session cookie. A failed CSRF check answers 403 with the code `csrf`."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            reason = str(error.detail).removeprefix("CSRF Failed: ")
            raise CsrfError(str(error.detail), code=CSRF_FAILED.format(reason=reason).code) from None

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        """The errors that this class can raise for the method, for the API description."""
        return () if method in permissions.SAFE_METHODS else (CsrfError,)

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        if bearer_text(request) is not None:
            return None
        result = super().authenticate(request)
        key = request._request.session.session_key
        if result is not None and key is not None:
            record_session_use(session_key=key, now=timezone.now())
        return result


def is_credential_valid(request: Request) -> bool:
    """Whether the credential of a request is still valid. A streamed response checks this from time to time."""
    try:
        if BearerAuthentication().authenticate(request):
            return True
    except exceptions.AuthenticationFailed:
        return False
    # A new session store: the one of the request has cached what it loaded when the request came in.
    fresh_request = HttpRequest()
    fresh_request.session = type(request._request.session)(request._request.session.session_key)
    return get_user(fresh_request).is_authenticated


class ReadOnlyTokenError(ForbiddenError):
    """A write was sent with a token of scope READ."""

    text = define_text("read_only_token", "This API token only reads.")


class SessionRequiredError(ForbiddenError):
    """The action is not allowed with an API token."""

    text = define_text("session_required", "This needs a session, not an API token.")


def _refusal_of(request: Request) -> exceptions.APIException:
    """Why a request without a valid credential is refused."""
    # From the cookie, since the session of the request has dropped a key that it did not find.
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    reason = find_end_of_session(key=key, now=timezone.now()) if key else None
    return EndedCredentialError(reason) if reason else exceptions.NotAuthenticated()


class IsAuthenticatedInScope(permissions.BasePermission):
    """The default permission of every route: signed in, and no write with a token of scope READ."""

    def has_permission(self, request: Request, view: object) -> bool:
        if not request.user.is_authenticated:
            raise _refusal_of(request)
        token = request.auth
        if (
            isinstance(token, ApiToken)
            and token.scope == TokenScope.READ
            and request.method not in permissions.SAFE_METHODS
        ):
            raise ReadOnlyTokenError
        return True

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        """The errors that this class can raise for the method, for the API description."""
        is_safe = method in permissions.SAFE_METHODS
        refusals = (exceptions.NotAuthenticated, EndedCredentialError)
        return refusals if is_safe else (*refusals, ReadOnlyTokenError)


class SessionOnly(IsAuthenticatedInScope):
    """For actions that an API token must not perform, such as creating tokens."""

    def has_permission(self, request: Request, view: object) -> bool:
        if super().has_permission(request, view) and isinstance(request.auth, ApiToken):
            raise SessionRequiredError
        return True

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        return (*super().refusals(method), SessionRequiredError)
