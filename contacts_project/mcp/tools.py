"""Tools out of the API description: one for each operation that an assistant may call, under its operationId.

Left out are sign-in and secrets (what asks for a password or shows a token), uploads, streams, pictures and cards, and
what moves a whole account.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from contacts_project.kernel.api.asgi_responses import InternalRequest
from contacts_project.kernel.api.json import dumps
from contacts_project.operation.views import description

Schema = dict[str, Any]

SHOWN, MOST_SHOWN = 20, 100
#: What the rules below would let through.
NO_TOOLS = frozenset({
    "updateProfile",  # the address that one signs in with
    "listSessions", "endSession",
    "exportAccount", "importAccount", "validateAccountImport", "getSearchIndex",  # a whole account at once
    "runBatch",  # an assistant calls tools, each of which is looked at
    "subscribePush",  # belongs to a browser
})  # fmt: skip
_SECRETS = {"password", "currentPassword", "newPassword", "token", "code", "keys"}
_JSON = "application/json"
_PAGE: Schema = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_SHOWN, "description": f"Default {SHOWN}."},
    "offset": {"type": "integer", "minimum": 0, "description": "Records to skip, default 0."},
}


@dataclass(frozen=True)
class Tool:
    """One operation. `places` says of each argument where the request has it: path, query or body; `is_cut` whether
    its list is paged here, since the route gives all of it."""

    name: str
    description: str
    method: str
    path: str
    schema: Schema
    places: Mapping[str, str]
    has_body: bool
    is_cut: bool

    @property
    def reads(self) -> bool:
        return self.method == "GET"

    def request(self, arguments: Mapping[str, Any]) -> InternalRequest:
        """The request that these arguments, which are as the schema wants them, stand for."""
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for name, value in arguments.items():
            if name in self.places:
                parts[self.places[name]][name] = value
        if "limit" in self.places:
            parts["query"].setdefault("limit", SHOWN)
        path = self.path.format_map({name: quote(str(value), safe="") for name, value in parts["path"].items()})
        query = {name: dumps(v).decode() if isinstance(v, bool) else v for name, v in parts["query"].items()}
        return InternalRequest(self.method, path, urlencode(query), dumps(parts["body"]) if self.has_body else b"")


@cache
def tools() -> Mapping[str, Tool]:
    """All tools by name."""
    document = orjson.loads(description())
    return {tool.name: tool for tool in _tools(document)}


def _tools(document: Schema) -> Iterator[Tool]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            body = _body(document, operation)
            if not _is_left_out(method, path, operation, body):
                yield _tool(document, method, path, operation, body)


def _body(document: Schema, operation: Schema) -> Schema | None:
    """The schema of a JSON body, whole; None where there is none."""
    content = operation.get("requestBody", {}).get("content", {})
    return _inlined(document, content[_JSON]["schema"]) if _JSON in content else None


def _is_left_out(method: str, path: str, operation: Schema, body: Schema | None) -> bool:
    answers = [answer for status, answer in operation["responses"].items() if status[0] == "2"]
    headers = {parameter.get("name") for parameter in operation.get("parameters", ())}
    return (
        operation["operationId"] in NO_TOOLS
        or path.startswith("/api/auth/")
        or ["apiToken"] not in [list(way) for way in operation.get("security", ())]
        or {kind for answer in answers for kind in answer.get("content", ())} != {_JSON}
        or ("requestBody" in operation and body is None)
        # A POST that takes no key shows a secret, streams, or changes nothing.
        or (method == "post" and "Idempotency-Key" not in headers)
        or bool(_SECRETS & set((body or {}).get("properties", ())))
    )


def _tool(document: Schema, method: str, path: str, operation: Schema, body: Schema | None) -> Tool:
    properties: Schema = {}
    places: dict[str, str] = {}
    required: list[str] = []
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "header" and parameter["name"] != "includeAll":
            name = parameter["name"]
            properties[name] = _argument(parameter)
            if parameter["in"] == "path":  # a slash would name another route
                properties[name]["pattern"] = "^[^/]+$"
            places[name] = parameter["in"]
            required += [name] if parameter.get("required") else []
    for name, schema in (body or {}).get("properties", {}).items():
        if name in places:
            raise ValueError(f"{operation['operationId']} has {name} in its body and elsewhere")
        properties[name], places[name] = schema, "body"
    is_cut = method == "get" and "limit" not in places and _shows_a_list(document, operation)
    return Tool(
        name=operation["operationId"],
        description="\n\n".join(filter(None, [operation.get("summary"), operation.get("description")])),
        method=method.upper(),
        path=path,
        schema={
            "type": "object",
            "properties": properties | (_PAGE if is_cut else {}),
            "required": [*required, *(body or {}).get("required", ())],
            "additionalProperties": False,
        },
        places=places,
        has_body=body is not None,
        is_cut=is_cut,
    )


def _argument(parameter: Schema) -> Schema:
    schema = {**parameter["schema"], "description": parameter.get("description", "")}
    if parameter["name"] == "limit":
        schema |= _PAGE["limit"]
    return {name: value for name, value in schema.items() if value != ""}


def _shows_a_list(document: Schema, operation: Schema) -> bool:
    answer = operation["responses"]["200"]["content"][_JSON]["schema"]
    return any(field.get("type") == "array" for field in _inlined(document, answer).get("properties", {}).values())


def _inlined(document: Schema, schema: Any) -> Any:
    """A schema with what it refers to in place, and closed: an argument that is not known is refused."""
    if isinstance(schema, list):
        return [_inlined(document, item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        found = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return _inlined(document, {**found, **{name: value for name, value in schema.items() if name != "$ref"}})
    whole: Schema = {
        name: {key: _inlined(document, value) for key, value in inner.items()}
        if name == "properties"
        else _inlined(document, inner)
        for name, inner in schema.items()
        if name not in {"examples", "example"}
    }
    if "properties" in whole:
        whole.setdefault("additionalProperties", False)
    return whole
