"""Authentication of API requests: a bearer token if an Authorization header is sent, otherwise the session cookie (open
points, sections 1 and 2)."""

import datetime as dt
from typing import Any

from django.contrib.auth import get_user
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.models.api_token import TOKEN_HASH, TOKEN_PATTERN
from accounts.services.sessions import record_session_use
from accounts.vocabularies import TokenScope
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.write_lock import skip_if_locked

# `last_used_at` is written at most once a minute per token, so that reads rarely cause a write.
_LAST_USED_RESOLUTION = dt.timedelta(minutes=1)
_TOKEN_BY_DIGEST = CompiledQuery(
    lambda digest: ApiToken.unscoped.select_related("owner").filter(digest=digest, owner__is_active=True)
)


class BearerAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer <API token>`. With any Authorization header, the session cookie is ignored."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, text = header.partition(" ")
        token = text.strip()
        if scheme.lower() != "bearer" or not TOKEN_PATTERN.fullmatch(token):
            raise exceptions.AuthenticationFailed("The API token is not valid.")
        now = timezone.now()
        row: ApiToken | None = _TOKEN_BY_DIGEST.instance(digest=TOKEN_HASH(token.encode()).hexdigest())
        if row is None or (row.expires_at is not None and row.expires_at <= now):
            raise exceptions.AuthenticationFailed("The API token is not valid, or has expired.")
        self._record_use(row, now)
        return row.owner, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def _record_use(self, row: ApiToken, now: dt.datetime) -> None:
        if row.last_used_at is not None and row.last_used_at >= now - _LAST_USED_RESOLUTION:
            return
        # The condition is repeated in the UPDATE, so that of many concurrent requests only one writes the row.
        outdated = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - _LAST_USED_RESOLUTION)
        # Skipped if SQLite stays locked for a moment: reading must not wait for a long write just to note the time.
        with skip_if_locked():
            ApiToken.unscoped.filter(outdated, pk=row.pk).update(last_used_at=now)


class CsrfError(exceptions.PermissionDenied):
    """A write with a session cookie has no valid CSRF token, or comes from another site."""


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session cookie. A failed CSRF check answers 403 with the code `csrf`."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            raise CsrfError(str(error.detail)) from None

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        """The errors that this class can raise for the method, for the API description."""
        return () if method in permissions.SAFE_METHODS else (CsrfError,)

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        if request.headers.get("Authorization"):
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


class ReadOnlyTokenError(exceptions.PermissionDenied):
    """A write was sent with a token of scope READ."""

    default_detail = "This API token only reads."


class SessionRequiredError(exceptions.PermissionDenied):
    """The action is not allowed with an API token."""

    default_detail = "This needs a session, not an API token."


class IsAuthenticatedInScope(permissions.BasePermission):
    """The default permission of every route: signed in, and no write with a token of scope READ."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated("Sign in, or send an API token.")
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
        return (exceptions.NotAuthenticated,) if is_safe else (exceptions.NotAuthenticated, ReadOnlyTokenError)


class SessionOnly(IsAuthenticatedInScope):
    """For actions that an API token must not perform, such as creating tokens."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if super().has_permission(request, view) and isinstance(request.auth, ApiToken):
            raise SessionRequiredError
        return True

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        return (*super().refusals(method), SessionRequiredError)
