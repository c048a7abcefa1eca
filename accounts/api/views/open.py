"""Endpoints that nobody has to be signed in for."""

from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.views import APIView


class OpenView(APIView):
    """Looks at no credential, so that a stale one is no obstacle to signing in.

    No CSRF token is asked for either: a form of another site can send neither JSON nor a preflighted request.
    """

    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]
