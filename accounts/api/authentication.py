"""Who is calling: a bearer token where one is sent, else the session cookie (open points, sections 1 and 2)."""

import datetime as dt
from typing import Any

from django.contrib.auth import get_user
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.models.api_token import DIGEST, WELL_FORMED
from accounts.services.sessions import note_session_use
from accounts.vocabularies import TokenScope
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.write_lock import unless_locked

_USE_RESOLUTION = dt.timedelta(minutes=1)
_TOKEN = CompiledQuery(
    lambda digest: ApiToken.unscoped.select_related("owner").filter(digest=digest, owner__is_active=True)
)


class BearerAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer <API token>`. Any Authorization header is the only credential looked at."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, text = header.partition(" ")
        token = text.strip()
        if scheme.lower() != "bearer" or not WELL_FORMED.fullmatch(token):
            raise exceptions.AuthenticationFailed("The API token is not valid.")
        now = timezone.now()
        row: ApiToken | None = _TOKEN.instance(digest=DIGEST(token.encode()).hexdigest())
        if row is None or (row.expires_at is not None and row.expires_at <= now):
            raise exceptions.AuthenticationFailed("The API token is not valid, or has expired.")
        self._note_use(row, now)
        return row.owner, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def _note_use(self, row: ApiToken, now: dt.datetime) -> None:
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - _USE_RESOLUTION)
        if row.last_used_at is None or row.last_used_at < now - _USE_RESOLUTION:
            with unless_locked():
                ApiToken.unscoped.filter(stale, pk=row.pk).update(last_used_at=now)


class CsrfError(exceptions.PermissionDenied):
    """A write with a session lacks its token, or comes from another site."""


class SessionAuthentication(authentication.SessionAuthentication):
    """Django's session cookie with its CSRF check, which answers 403 `csrf`."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            raise CsrfError(str(error.detail)) from None

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        """What such requests are refused with, for the API description."""
        return () if method in permissions.SAFE_METHODS else (CsrfError,)

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        if request.headers.get("Authorization"):
            return None
        found = super().authenticate(request)
        key = request._request.session.session_key
        if found is not None and key is not None:
            note_session_use(session_key=key, now=timezone.now())
        return found


def is_still_signed_in(request: Request) -> bool:
    """Whether the credential of a request that was let in would be let in now: for answers that go on for long."""
    try:
        if BearerAuthentication().authenticate(request):
            return True
    except exceptions.AuthenticationFailed:
        return False
    asked = HttpRequest()
    asked.session = type(request._request.session)(request._request.session.session_key)
    return get_user(asked).is_authenticated


class ReadOnlyTokenError(exceptions.PermissionDenied):
    """A token of scope READ was used to write."""

    default_detail = "This API token only reads."


class SessionRequiredError(exceptions.PermissionDenied):
    """What a token must not do."""

    default_detail = "This needs a session, not an API token."


class OwnData(permissions.BasePermission):
    """The default of every endpoint: signed in, and a READ token only reads."""

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
        """What such requests are refused with, for the API description."""
        is_safe = method in permissions.SAFE_METHODS
        return (exceptions.NotAuthenticated,) if is_safe else (exceptions.NotAuthenticated, ReadOnlyTokenError)


class SessionOnly(OwnData):
    """For what a token must not do, such as making tokens."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if super().has_permission(request, view) and isinstance(request.auth, ApiToken):
            raise SessionRequiredError
        return True

    def refusals(self, method: str) -> tuple[type[exceptions.APIException], ...]:
        return (*super().refusals(method), SessionRequiredError)
