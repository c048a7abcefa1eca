"""Our own fields as JSON Schema."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema


class _FieldSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    schema: dict[str, Any] = {"type": "string"}

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return dict(self.schema)


class TextSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.Text"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "maxLength": self.target.max_length}
        if self.target.min_length and not self.target.allow_null:
            schema["minLength"] = self.target.min_length
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
