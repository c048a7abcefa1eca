"""JSON Schemas of tools' arguments, from those of the API description: without references, and with single types."""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

ID_PATTERN = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
MAX_INTEGER = 2**53 - 1  # beyond it, a client that computes with doubles cannot tell two integers apart

# What describes a value of any type stays outside of `anyOf`; each other keyword goes to the types that it limits.
_ANNOTATIONS = {"description", "title", "default", "readOnly", "writeOnly", "deprecated"}
_LIMITS = {
    "string": {"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"},
    "array": {"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
}
_IS_TYPE = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def resolve_refs(document: Schema, schema: Any) -> Any:
    """The schema with each $ref replaced by its schema, without examples, and closed to unknown properties."""
    if isinstance(schema, list):
        return [resolve_refs(document, item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        found = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return resolve_refs(document, {**found, **{name: value for name, value in schema.items() if name != "$ref"}})
    whole: Schema = {
        name: {key: resolve_refs(document, value) for key, value in inner.items()}
        if name == "properties"
        else resolve_refs(document, inner)
        for name, inner in schema.items()
        if name not in {"examples", "example"}
    }
    if "properties" in whole:
        whole.setdefault("additionalProperties", False)
    return whole


def as_single_types(schema: Any) -> Any:
    """The same schema with `anyOf` instead of lists of types and of `oneOf`, which some clients refuse.

    The alternatives of every `oneOf` in the API description exclude each other by their types.
    """
    if isinstance(schema, list):
        return [as_single_types(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    converted: Schema = {
        "anyOf" if name == "oneOf" else name: {key: as_single_types(value) for key, value in inner.items()}
        if name == "properties"
        else inner
        if name in {"enum", "const", "default"}
        else as_single_types(inner)
        for name, inner in schema.items()
    }
    if isinstance(converted.get("type"), list):
        outside = {name: value for name, value in converted.items() if name in _ANNOTATIONS}
        return outside | {"anyOf": list(_split_types(converted))}
    return converted


def _split_types(schema: Schema) -> Iterator[Schema]:
    for kind in schema["type"]:
        alternative = {"type": kind, **{name: schema[name] for name in _LIMITS.get(kind, ()) if name in schema}}
        if "enum" in schema:
            alternative["enum"] = [value for value in schema["enum"] if _IS_TYPE[kind](value)]
        if alternative.get("enum") != []:
            yield alternative


def with_integers(schema: Schema, value: Any) -> Any:
    """The value with an integer for each float that JSON Schema calls an integer (5.0), where the schema wants one.

    The API takes no such floats, and many clients compute with doubles alone.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value) if _wants_integer(schema) else value
    alternatives = [schema, *schema.get("anyOf", ())]
    if isinstance(value, dict):
        known: Schema = {name: inner for each in alternatives for name, inner in each.get("properties", {}).items()}
        return {name: with_integers(known[name], inner) if name in known else inner for name, inner in value.items()}
    if isinstance(value, list):
        items = next((each["items"] for each in alternatives if "items" in each), None)
        return [with_integers(items, inner) for inner in value] if items else value
    return value


def _wants_integer(schema: Schema) -> bool:
    return "integer" in {each.get("type") for each in (schema, *schema.get("anyOf", ()))}
