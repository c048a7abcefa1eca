"""The security schemes in the API description: API token, and session cookie with CSRF token."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.permissions import SAFE_METHODS

from accounts.api.authentication import SessionOnly


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.BearerAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token (POST /api/user/api-tokens)."}

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[Any]]]:
        needs_session = any(isinstance(permission, SessionOnly) for permission in auto_schema.view.get_permissions())
        return [] if needs_session else [{"apiToken": []}]


class SessionScheme(OpenApiAuthenticationExtension):
    """The session cookie; for writes also the CSRF header, which only pages of this or an allowed origin can send."""

    target_class = "accounts.api.authentication.SessionAuthentication"
    name = ["session", "csrf"]

    def get_security_definition(self, auto_schema: AutoSchema) -> list[dict[str, str]]:
        cookie = "POST /api/auth/login sets it."
        header = "The token of GET /api/auth/csrf, with every write of a session."
        return [
            {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": cookie},
            {"type": "apiKey", "in": "header", "name": "X-CSRFToken", "description": header},
        ]

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[Any]]:
        return {"session": []} if auto_schema.method in SAFE_METHODS else {"session": [], "csrf": []}
