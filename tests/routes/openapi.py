"""Loads the served OpenAPI description and validates responses against it."""

import re
from copy import deepcopy
from functools import cache
from typing import Any

import jsonschema_rs
import orjson
from django.test import Client
from django.urls import Resolver404, resolve


@cache
def document() -> dict[str, Any]:
    """The body of GET /api/openapi.json, requested once per process."""
    # Not the test client's own host name, which is allowed only while tests run.
    response = Client().get("/api/openapi.json", headers={"host": "localhost"})
    description: dict[str, Any] = orjson.loads(response.content)
    return description


def normalize_path(path: str) -> str:
    """The path without its query and without the names of its placeholders: /api/people/{}/graph."""
    return re.sub(r"\{[^}]*\}|<[^>]*>", "{}", path.partition("?")[0])


@cache
def operations() -> dict[tuple[str, str], dict[str, Any]]:
    """The described operations, by method and normalized path."""
    return {
        (method.upper(), normalize_path(path)): operation
        for path, item in document()["paths"].items()
        for method, operation in item.items()
    }


def check_response(response: Any) -> None:
    """Raise if the response does not match the description of this operation and status."""
    method = response.request["REQUEST_METHOD"]
    operation = operations().get((method, _route(response)))
    if operation is None or response.status_code == 500:  # a 500 is the same for every operation
        return
    name = f"{operation['operationId']}, {response.status_code}"
    described = _follow_ref(operation["responses"].get(str(response.status_code)))
    assert described is not None, f"{name}: not described, only {sorted(operation['responses'])}"
    optional = {"Retry-After"}
    if response.status_code == 401 and b'"success"' in response.content:
        optional.add("WWW-Authenticate")  # a login that another server has refused names no scheme of ours
    assert set(described["headers"]) <= {*optional, *response.headers}, f"{name}: {response.headers}"
    if response.streaming or not response.content:
        return
    kind = response["Content-Type"].partition(";")[0]
    assert kind in described["content"], f"{name}: {kind} is not described, only {sorted(described['content'])}"
    if kind == "application/json" and not response.has_header("Content-Encoding"):  # a compressed body is not JSON
        check_value(described["content"][kind]["schema"], orjson.loads(response.content))


def _route(response: Any) -> str:
    match = response.wsgi_request.resolver_match  # None if a middleware has answered
    try:
        return normalize_path(f"/{(match or resolve(response.request['PATH_INFO'])).route}")
    except Resolver404:
        return ""


def _follow_ref(described: dict[str, Any] | None) -> dict[str, Any] | None:
    if described and "$ref" in described:
        found: dict[str, Any] = document()["components"]["responses"][described["$ref"].rpartition("/")[2]]
        return found
    return described


def check_webhook(body: bytes) -> None:
    """Raise if the description has no webhook of this type, or the body does not match its schema."""
    value = orjson.loads(body)
    webhook = document()["webhooks"][value["type"]]["post"]
    check_value(webhook["requestBody"]["content"]["application/json"]["schema"], value)


def check_value(schema: dict[str, Any], value: Any) -> None:
    """Raise if `value` does not match `schema` of the description, or has a key that is not in it."""
    _validator(orjson.dumps(schema)).validate(value)


@cache
def _validator(schema: bytes) -> Any:
    text = schema.replace(b'"#/', b'"urn:description#/')
    return jsonschema_rs.Draft202012Validator(
        orjson.loads(text), registry=_registry(), validate_formats=True, formats={"binary": lambda value: True}
    )


@cache
def _registry() -> Any:
    # Closed, so that a key that is missing in the description fails the test.
    closed = deepcopy(document())
    for schema in closed["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return jsonschema_rs.Registry([("urn:description", closed)])
