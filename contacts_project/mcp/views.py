"""The route /mcp: who may speak to it. What is said is the SDK's."""

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


class HasToken(BasePermission):
    """With an API token of whatever scope: every message is a POST, and each tool is refused by its own route."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ApiToken):
            raise NotAuthenticated("Send an API token.")
        # The protocol asks for it (Streamable HTTP, Security Warning): pages of other sites may reach a local service.
        origin = request.headers.get("Origin")
        return origin is None or origin in settings.CSRF_TRUSTED_ORIGINS


class McpViewSet(ApiViewSet[Any]):
    """Streamable HTTP without sessions: each POST is answered by itself, so that any process may take it."""

    authentication_classes = (BearerAuthentication,)
    permission_classes = (HasToken,)
    max_body_bytes = "MAX_MCP_BYTES"
    accepts_idempotency_keys = False
    allowed_in_batches = False

    @extend_schema(exclude=True)
    def create(self, request: Request) -> HttpResponseBase:
        """A message of a client of the protocol."""
        from contacts_project.mcp.server import serve  # noqa: PLC0415 - 55 MB that an instance may never need

        token: Any = request.auth
        return AsgiResponse(partial(serve, reads_only=token.scope == TokenScope.READ))
