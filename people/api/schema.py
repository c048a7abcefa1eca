"""drf-spectacular extensions for fields and responses whose schema does not follow from their class."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from contacts_project.kernel.json import JsonObject
from people.api.deleted import response_shapes
from people.api.person_entries import MAX_CUSTOM_VALUES, CustomFieldValueSerializer
from people.fields.custom_values import MAX_VALUE_LENGTH


class DateOrDateTimeSchema(OpenApiSerializerFieldExtension):
    target_class = "people.api.person_entries.DateOrDateTimeField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> JsonObject:
        if direction == "request":
            return {"type": "string", "examples": ["1815-12-10"], "description": "A day, or a moment of it."}
        return {"type": "string", "format": "date-time", "examples": ["1815-12-10T00:00:00.000Z"]}


class EntryIdSchema(OpenApiSerializerFieldExtension):
    target_class = "people.api.person_entries.EntryIdField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> JsonObject:
        return {"type": ["string", "null"] if direction == "request" else "string"}


class DateIdSchema(EntryIdSchema):
    target_class = "people.api.person_entries.DateIdField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> JsonObject:
        return {**super().map_serializer_field(auto_schema, direction), "format": "uuid"}


class CustomFieldValuesSchema(OpenApiSerializerFieldExtension):
    target_class = "people.api.person_entries.CustomFieldValuesField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> JsonObject:
        entry = auto_schema.resolve_serializer(CustomFieldValueSerializer, direction).ref
        limit = {"maxItems": MAX_CUSTOM_VALUES} if direction == "request" else {}
        return {"type": "array", "items": entry, **limit}


class CustomValueSchema(OpenApiSerializerFieldExtension):
    target_class = "people.api.person_entries.CustomValueField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> JsonObject:
        kinds = ["string", "number", "boolean", *(["null"] if direction == "request" else [])]
        return {"type": kinds, "maxLength": MAX_VALUE_LENGTH}


class DeletedAnswerSchema(OpenApiSerializerExtension):
    """One of the shapes, depending on `type` in the query. `anyOf`, because an empty list matches all of them."""

    target_class = "people.api.deleted.DeletedAnswer"

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> JsonObject:
        return {"anyOf": [auto_schema.resolve_serializer(shape, direction).ref for shape in response_shapes()]}
