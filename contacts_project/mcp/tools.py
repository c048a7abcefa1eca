"""Tools derived from the API description: one for each operation that an assistant may call, named by its operationId.

Excluded are sign-in and secrets (operations that take a password or return a token), uploads, streams, pictures, vCards
and operations on a whole account.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from contacts_project.kernel.api.asgi_responses import InternalRequest
from contacts_project.kernel.json import JsonMapping, dumps
from contacts_project.operation.views import description

Schema = dict[str, Any]

ID_PATTERN = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
MAX_INTEGER = 2**53 - 1  # beyond it, a client that computes with doubles cannot tell two integers apart

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
#: Operations that the rules of `_is_excluded` would not exclude.
EXCLUDED_OPERATIONS = frozenset({
    "updateProfile",  # changes the address used to sign in
    "listSessions", "endSession",
    "exportAccount", "importAccount", "validateAccountImport", "getSearchIndex",  # a whole account at once
    "runBatch",  # an assistant calls tools one by one, so that each call can be approved
    "subscribePush",  # needs the keys of a browser
    # What concerns others: of shares an assistant reads, and answers what waits.
    "createShare", "updateShare", "inviteToShare", "revokeShareInvitation", "declineShareInvitation",
    "leaveShare", "removeShareMember",
    "listReceivedShareInvitations",  # takes the token of a link
    "decideShareHold", "resolveShareConflict", "undoShareLogEntry",
})  # fmt: skip
_SECRET_FIELDS = {"password", "currentPassword", "newPassword", "token", "code", "keys"}
_JSON = "application/json"
_PAGE: Schema = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": f"Default {DEFAULT_LIMIT}."},
    "offset": {
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_INTEGER,
        "description": "Records to skip, default 0.",
    },
}

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


@dataclass(frozen=True)
class Tool:
    """One operation.

    `locations`: where each argument goes in the request (path, query or body). `is_paged_here`: the route returns its
    whole list, and `summarize` makes pages of it.
    """

    name: str
    description: str
    method: str
    path: str
    schema: Schema
    locations: Mapping[str, str]
    has_body: bool
    is_paged_here: bool

    @property
    def reads(self) -> bool:
        return self.method == "GET"

    def request(self, arguments: JsonMapping) -> InternalRequest:
        """The request for these arguments, which must be valid by the schema, with its integers as such."""
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for name, value in arguments.items():
            if name in self.locations:
                parts[self.locations[name]][name] = value
        if "limit" in self.locations:
            parts["query"].setdefault("limit", DEFAULT_LIMIT)
        path = self.path.format_map({name: quote(str(value), safe="") for name, value in parts["path"].items()})
        query = {name: dumps(v).decode() if isinstance(v, bool) else v for name, v in parts["query"].items()}
        return InternalRequest(self.method, path, urlencode(query), dumps(parts["body"]) if self.has_body else b"")


@cache
def tools() -> Mapping[str, Tool]:
    """All tools by name."""
    document = orjson.loads(description())
    return {tool.name: tool for tool in _build_tools(document)}


def _build_tools(document: Schema) -> Iterator[Tool]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {})
            body = resolve_refs(document, content[_JSON]["schema"]) if _JSON in content else None
            if not _is_excluded(method, path, operation, body):
                yield _build_tool(document, method, path, operation, body)


def _is_excluded(method: str, path: str, operation: Schema, body: Schema | None) -> bool:
    responses = [response for status, response in operation["responses"].items() if status[0] == "2"]
    headers = {parameter.get("name") for parameter in operation.get("parameters", ())}
    return (
        operation["operationId"] in EXCLUDED_OPERATIONS
        or path.startswith("/api/auth/")
        or ["apiToken"] not in [list(way) for way in operation.get("security", ())]
        or _JSON not in {kind for response in responses for kind in response.get("content", ())}
        or ("requestBody" in operation and body is None)
        # A POST without an idempotency key returns a secret, streams, or changes nothing.
        or (method == "post" and "Idempotency-Key" not in headers)
        or bool(_SECRET_FIELDS & set((body or {}).get("properties", ())))
    )


def _build_tool(document: Schema, method: str, path: str, operation: Schema, body: Schema | None) -> Tool:
    properties: Schema = {}
    locations: dict[str, str] = {}
    required: list[str] = []
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "header" and parameter["name"] != "includeAll":
            name = parameter["name"]
            properties[name] = _parameter_schema(parameter)
            if parameter["in"] == "path":  # any other text would lead to another route, such as `search-index`
                properties[name]["pattern"] = ID_PATTERN
            locations[name] = parameter["in"]
            required += [name] if parameter.get("required") else []
    for name, schema in (body or {}).get("properties", {}).items():
        if name in locations:
            raise ValueError(f"{operation['operationId']} has {name} in its body and elsewhere")
        properties[name], locations[name] = schema, "body"
    is_paged_here = method == "get" and "limit" not in locations and _returns_list(document, operation)
    return Tool(
        name=operation["operationId"],
        description="\n\n".join(filter(None, [operation.get("summary"), operation.get("description")])),
        method=method.upper(),
        path=path,
        schema=as_single_types(
            {
                "type": "object",
                "properties": properties | (_PAGE if is_paged_here else {}),
                "required": [*required, *(body or {}).get("required", ())],
                "additionalProperties": False,
            }
        ),
        locations=locations,
        has_body=body is not None,
        is_paged_here=is_paged_here,
    )


def _parameter_schema(parameter: Schema) -> Schema:
    schema = {**parameter["schema"], "description": parameter.get("description", "")}
    if parameter["name"] == "limit":
        schema |= _PAGE["limit"]
    return {name: value for name, value in schema.items() if value != ""}


def _returns_list(document: Schema, operation: Schema) -> bool:
    schema = operation["responses"]["200"]["content"][_JSON]["schema"]
    properties = resolve_refs(document, schema).get("properties", {})
    return any(field.get("type") == "array" for field in properties.values())


# JSON Schemas of arguments, from those of the API description: without references, and with single types.


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
