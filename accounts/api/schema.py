"""Parts of the API description: the security schemes (API token; session cookie with CSRF token), the change feed."""

from typing import Any, TypeAlias

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from accounts.api.authentication import SessionOnly
from accounts.api.serializers import UserSerializer
from accounts.api.views.changes import RECORD_SERIALIZERS
from accounts.feed.changes import SETTINGS, feed_kinds
from contacts_project.kernel.json import JsonObject

Field: TypeAlias = "serializers.Field[Any, Any, Any, Any]"


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.BearerAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token (POST /api/user/api-tokens)."}

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[str]]]:
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

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[str]]:
        return {"session": []} if auto_schema.method in SAFE_METHODS else {"session": [], "csrf": []}


class ChangeSchema(OpenApiSerializerExtension):
    """One of the types of records, told apart by `type`: clients get each record with its own fields."""

    target_class = "accounts.api.views.changes.ChangeSerializer"

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> JsonObject:
        described: dict[str, type[serializers.Serializer[Any]]] = {
            SETTINGS: UserSerializer,
            **{kind.name: RECORD_SERIALIZERS[kind.model] for kind in feed_kinds()},
        }
        refs = {
            name: auto_schema.resolve_serializer(_change_of(name, record), direction).ref
            for name, record in described.items()
        }
        mapping = {name: ref["$ref"] for name, ref in refs.items()}
        return {"oneOf": list(refs.values()), "discriminator": {"propertyName": "type", "mapping": mapping}}


def _change_of(name: str, record: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """The schema of a change of this type."""
    fields: dict[str, Field] = {
        "type": serializers.ChoiceField([name]),
        "id": serializers.UUIDField(),
        "revision": serializers.IntegerField(),
        "etag": serializers.CharField(allow_null=True),
        "deleted": serializers.BooleanField(),
        "record": record(allow_null=True, help_text="Null when deleted."),
    }
    change: Any = inline_serializer(f"{name[0].upper()}{name[1:]}Change", fields)
    return change  # type: ignore[no-any-return]
