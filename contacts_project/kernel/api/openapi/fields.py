"""JSON Schema of the fields in `kernel.api.fields`."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema


class _FieldSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    schema: dict[str, Any] = {"type": "string"}

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return dict(self.schema)


class CharSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.StrictCharField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "maxLength": self.target.max_length}
        if not self.target.allow_blank:
            schema["minLength"] = 1
        return schema


class IntegerSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.StrictIntegerField"
    schema = {"type": "integer"}


class FloatSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.StrictFloatField"
    schema = {"type": "number"}


class ChoiceSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.StrictChoiceField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        words = list(self.target.choices)
        return {"type": "string", "enum": [*words, None] if self.target.allow_null else words}


class ColorSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.ColorField"
    schema = {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"}


class ClientIdSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.ClientIdField"
    schema = {
        "type": "string",
        "format": "uuid",
        "pattern": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[47][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$",
    }


class OwnedSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.OwnedField"
    schema = {"type": "string", "format": "uuid"}


class OwnedListSchema(_FieldSchema):
    target_class = "contacts_project.kernel.api.fields.OwnedListField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        min_items = {} if self.target.allow_empty else {"minItems": 1}
        items = {"type": "string", "format": "uuid"}
        return {"type": "array", "items": items, **min_items, "maxItems": self.target.max_items}
