"""How drf-spectacular describes our views: operation ids, the error model, our own fields."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import inline_serializer
from rest_framework.serializers import Field, Serializer


def envelope(name: str, **fields: "Field[Any, Any, Any, Any]") -> "Serializer[Any]":
    """The schema of an answer such as `{ person: Person }`; `name` is unique among all answers."""
    answer: Serializer[Any] = inline_serializer(name=name, fields=fields)
    return answer


def add_error_answers(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Postprocessing hook: every operation also answers with the one error shape."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR_SCHEMA
    failure = {
        "description": "What is wrong, with which field, what to do.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": ERROR_EXAMPLE}},
    }
    for path in result["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].setdefault("default", failure)
    return result


ERROR_EXAMPLE = {
    "error": "emails.0.email: This is not an e-mail address.",
    "code": "invalid",
    "details": [{"field": "emails.0.email", "message": "This is not an e-mail address."}],
}

ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "The body of every answer with a status of 400 or more.",
    "required": ["error"],
    "properties": {
        "error": {"type": "string", "examples": ["name: This must not be empty."]},
        "code": {"type": "string", "examples": ["invalid"]},
        "retryAfter": {"type": "integer", "description": "Seconds to wait, with status 429."},
        "details": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string", "examples": ["emails.0.email"]},
                    "message": {"type": "string", "examples": ["This is not an e-mail address."]},
                },
            },
        },
    },
}


class ContractSchema(AutoSchema):
    """The schema class of every view. A DELETE has the body that `extend_schema` gives it."""

    def get_request_serializer(self) -> Any:
        return None if self.method == "DELETE" else super().get_request_serializer()

    def _get_request_body(self, direction: Any = "request") -> Any:
        if self.method != "DELETE" or self.get_request_serializer() is None:
            return super()._get_request_body(direction)
        self.method = "POST"  # drf-spectacular describes no body of a DELETE
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"


class _FieldSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    schema: dict[str, Any] = {"type": "string"}

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return dict(self.schema)


class TextSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Text"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "maxLength": self.target.max_length}
        if not self.target.allow_null:
            schema["minLength"] = 1
        return schema


class WholeSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Whole"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.target.low, "maximum": self.target.high}


class NumberSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Number"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return {"type": "number", "minimum": self.target.low, "maximum": self.target.high}


class TruthSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Truth"
    schema = {"type": "boolean"}


class DaySchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Day"
    schema = {"type": "string", "format": "date"}


class MomentSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Moment"
    schema = {"type": "string", "format": "date-time"}


class ChoiceSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Choice"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        words = list(self.target.words)
        return {"type": "string", "enum": [*words, None] if self.target.allow_null else words}


class ColorSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Color"
    schema = {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"}


class OwnedSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.OwnedField"
    schema = {"type": "string", "format": "uuid"}


class OwnedListSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.OwnedListField"
    schema = {"type": "array", "items": {"type": "string", "format": "uuid"}}
