"""drf-spectacular extensions for fields and responses whose schema does not follow from their class, and what the
description of a person says of each field for those who show and search people."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from contacts_project.kernel.json import JsonObject
from people.api.deleted import response_shapes
from people.api.person_entries import MAX_CUSTOM_VALUES, CustomFieldValueSerializer
from people.field_table import FIELDS, FieldKind, PersonField
from people.services.custom_fields import MAX_VALUE_LENGTH


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


class PersonSchema(OpenApiSerializerExtension):
    """Adds `x-field` to each field of `Person`: its kind, its group, and how a client searches it.

    Its limits are keywords of JSON Schema. docs/openapi.md explains the values.
    """

    target_class = "people.api.person_serializer.PersonSerializer"

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> JsonObject:
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        if direction == "response":
            for field in FIELDS:
                described = schema["properties"][field.name]
                schema["properties"][field.name] = {**described, "x-field": _describe_field(field, described)}
        return schema  # type: ignore[no-any-return]


_KINDS_WITHOUT_COLUMN = {"array": "list", "string": "text"}


def _describe_field(field: PersonField, schema: JsonObject) -> JsonObject:
    kind = field.kind.name.lower()
    if field.kind in {FieldKind.NO_COLUMN, FieldKind.ROWS}:
        kind = _KINDS_WITHOUT_COLUMN.get(schema.get("type", ""), "object")
    described: JsonObject = {"kind": kind, "group": field.group}
    if field.search:
        described["search"] = field.search
    if field.indexed_keys:
        described["keys"] = list(field.indexed_keys)
    return described


class DeletedAnswerSchema(OpenApiSerializerExtension):
    """One of the shapes, depending on `type` in the query. `anyOf`, because an empty list matches all of them."""

    target_class = "people.api.deleted.DeletedAnswer"

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> JsonObject:
        return {"anyOf": [auto_schema.resolve_serializer(shape, direction).ref for shape in response_shapes()]}
