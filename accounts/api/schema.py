"""How the API description names the two ways to sign in."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.BearerAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token (POST /api/user/api-tokens)."}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        text = "POST /api/auth/login sets it. Writes also send the X-CSRFToken of GET /api/auth/csrf."
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": text}
