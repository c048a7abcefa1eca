"""The route /mcp: authentication, and the hand-over to the SDK."""

from functools import partial
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.api.authentication import BearerAuthentication
from accounts.api.viewsets import ApiViewSet
from accounts.models import ApiToken
from accounts.vocabularies import TokenScope
from contacts_project.kernel.api.asgi_responses import AsgiResponse
from contacts_project.kernel.api.body_limit import BodyLimit


class HasToken(BasePermission):
    """Any API token may call, also of scope READ: every message is a POST, and a tool's route checks the scope."""

    def has_permission(self, request: Request, view: object) -> bool:
        if not isinstance(request.auth, ApiToken):
            raise NotAuthenticated("Send an API token.")
        # Required by the protocol (Streamable HTTP, Security Warning), against DNS rebinding by pages of other sites.
        origin = request.headers.get("Origin")
        return origin is None or origin in settings.CSRF_TRUSTED_ORIGINS


class McpViewSet(ApiViewSet[Any]):
    """Streamable HTTP without sessions: each POST is answered on its own, so that any process can answer it."""

    authentication_classes = (BearerAuthentication,)
    permission_classes = (HasToken,)
    body_limit = BodyLimit(lambda: settings.MAX_MCP_BYTES)
    accepts_idempotency_keys = False
    allowed_in_batches = False

    @extend_schema(exclude=True)
    def create(self, request: Request) -> HttpResponseBase:
        """A message of a client of the protocol."""
        from contacts_project.mcp.server import serve  # noqa: PLC0415 - takes 55 MB, which many instances never need

        token: Any = request.auth
        return AsgiResponse(partial(serve, reads_only=token.scope == TokenScope.READ))
