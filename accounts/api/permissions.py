"""What a caller may do: everything of its own; less with a read-only token."""

from typing import Any

from rest_framework import exceptions, permissions
from rest_framework.request import Request

from accounts.models import ApiToken


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
            and token.scope == ApiToken.READ
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
