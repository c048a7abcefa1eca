"""The served OpenAPI description, and whether an answer is what it promises."""

import re
from functools import cache
from typing import Any

import jsonschema
import orjson
from django.test import Client


@cache
def document() -> dict[str, Any]:
    """GET /api/openapi.json, once for the process."""
    answer: dict[str, Any] = orjson.loads(Client().get("/api/openapi.json").content)
    return answer


def bare(path: str) -> str:
    """A path with its placeholders unnamed: /api/people/{}/graph."""
    return re.sub(r"\{[^}]*\}|<[^>]*>", "{}", path.partition("?")[0])


@cache
def operations() -> dict[tuple[str, str], dict[str, Any]]:
    """Every described operation, by method and bare path."""
    return {
        (method.upper(), bare(path)): operation
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and "responses" in operation
    }


def check_answer(method: str, path: str, status: int, content_type: str, content: bytes) -> None:
    """Raise where the answer is not what the description says of this operation and status."""
    responses = operations()[method, bare(path)]["responses"]
    described = responses.get(str(status)) or (responses.get("default") if status >= 400 else None)
    assert described is not None, f"{method} {path}: status {status} is not described, only {sorted(responses)}"
    kinds = described.get("content", {})
    if not content:
        return
    kind = content_type.partition(";")[0]
    assert kind in kinds, f"{method} {path}: {kind} is not described, only {sorted(kinds)}"
    if kind == "application/json" and "schema" in kinds[kind]:
        check_value(kinds[kind]["schema"], orjson.loads(content))


def check_value(schema: dict[str, Any], value: Any) -> None:
    """Raise where `schema` of the description does not allow `value`."""
    jsonschema.Draft202012Validator({**schema, "components": document()["components"]}).validate(value)
