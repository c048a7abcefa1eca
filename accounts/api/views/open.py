"""Endpoints that nobody has to be signed in for."""

from typing import Any

from django.contrib.auth import get_user
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import User


def session_user(request: Request) -> User | None:
    """The account of the session behind a request to an open endpoint; beside a bearer header no session counts."""
    if request.headers.get("Authorization"):
        return None
    user = get_user(request._request)
    return user if isinstance(user, User) else None


class OpenView(APIView):
    """Looks at no credential, so that a stale one is no obstacle to signing in.

    No CSRF token is asked for either: a form of another site can send neither JSON nor a preflighted request.
    """

    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]
