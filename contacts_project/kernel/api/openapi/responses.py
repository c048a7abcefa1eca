"""Responses of operations: their errors by status, with the error codes possible there, and their headers.

`failure_responses` describes errors by `x-codes` only. Once all operations are described, `add_error_schemas` replaces
each set of codes by one schema and one response in `components`, which operations share.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from contacts_project.kernel.api.errors import failure_of
from contacts_project.kernel.json import JsonObject

Schema = dict[str, Any]

#: Error statuses: prefix of the schema name, and description.
MEANINGS = {
    400: ("BadRequest", "The request is not valid, or cannot be carried out as things stand."),
    401: ("Unauthorized", "The caller is not signed in, or the credentials are wrong."),
    403: ("Forbidden", "This caller may not do this."),
    404: ("NotFound", "The caller has no such record."),
    408: ("TimedOut", "A server that was asked on the caller's behalf was silent for too long."),
    409: ("Conflict", "What is stored stands against it."),
    410: ("Gone", "It was here once; what there was of it is no longer known."),
    412: ("Stale", "The record has been changed since it had this tag: `current` is what it is now."),
    413: ("TooLarge", "The body or file is too large."),
    415: ("UnsupportedMediaType", "The media type is known, but not taken here."),
    422: ("Unprocessable", "The key of the request was taken for another one."),
    429: ("RateLimited", "Too many requests: try again after `retryAfter` seconds."),
    502: ("BadGateway", "A server that was asked on the caller's behalf did not answer as it should."),
    503: ("Unavailable", "The service is busy, or a part of it is away. Nothing of the request was kept."),
}
PARAMS: Schema = {
    "type": "object",
    "description": "The values in the text, where it holds any.",
    "additionalProperties": True,
    "examples": [{"limit": 100, "length": 130}],
}
DETAIL: Schema = {
    "type": "object",
    "description": "One thing that is wrong with the request.",
    "required": ["field", "message", "code"],
    "properties": {
        "field": {"type": "string", "description": "Dotted, as in the body.", "examples": ["emails.0.email"]},
        "message": {
            "type": "string",
            "description": "In the language of the account; without one, by Accept-Language.",
            "examples": ["This is not an e-mail address."],
        },
        "code": {"type": "string", "description": "Never changes.", "examples": ["not_an_email"]},
        "params": PARAMS,
    },
}


HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-ID": {
        "description": "The id of the request, the caller's own where one was sent; part of each line of the log.",
        "schema": {"type": "string"},
    },
    "ETag": {
        "description": "Strong validator of what the GET of this answers: for If-None-Match, of a record for If-Match.",
        "schema": {"type": "string", "examples": ['"5f2b6c1e01979a3e6c5b7d219a442f6f"']},
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "examples": [60]}},
    "WWW-Authenticate": {
        "description": "The scheme to authenticate with.",
        "schema": {"type": "string", "examples": ["Bearer"]},
    },
}
_BY_STATUS = {"401": ["WWW-Authenticate"], "429": ["Retry-After"], "503": ["Retry-After"]}


def failure_responses(errors: Iterable[type[Exception]]) -> Schema:
    """Return error responses by status, with `x-codes` only. None among the codes means an error without a code."""
    codes: dict[int, set[str | None]] = defaultdict(set)
    with_success, without_scheme = set(), set()
    for failure in map(failure_of, errors):
        codes[failure.status].update(failure.codes or (failure.code,))
        with_success |= {failure.status} if failure.has_success else set()
        without_scheme |= set() if failure.names_scheme else {failure.status}
    return {
        str(status): {
            "x-codes": sorted(codes[status], key=str),
            "x-success": status in with_success,
            "x-without-scheme": status in without_scheme,
        }
        for status in sorted(codes)
    }


def add_error_schemas(result: Schema, **kwargs: object) -> Schema:
    """Postprocessing hook, after `add_headers`: add a schema and a response for each set of codes."""
    components = result["components"]
    components["schemas"]["ErrorDetail"] = DETAIL
    components["responses"] = {}
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if "x-codes" in response:
                    name = _schema_name(int(status), response["x-codes"], response.get("x-current", {}))
                    components["schemas"][name] = _error_schema(int(status), response["x-codes"])
                    if current := response.get("x-current"):
                        components["schemas"][name]["properties"]["current"] = current
                        components["schemas"][name]["required"].append("current")
                    if response["x-success"]:
                        components["schemas"][name]["properties"]["success"] = {"type": "boolean", "examples": [False]}
                    described: Schema = {
                        "description": MEANINGS[int(status)][1],
                        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
                        "headers": response["headers"],
                    }
                    if pages := response.get("x-content"):
                        # Specific to this operation, so it cannot become a shared component.
                        described["content"] |= pages
                        operation["responses"][status] = described
                        continue
                    components["responses"][name] = described
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return result


def _schema_name(status: int, codes: list[str | None], current: Schema) -> str:
    record: str = current.get("$ref", "")
    prefix = MEANINGS[status][0] + record.rpartition("/")[2]
    words = ["".join(map(str.capitalize, (code or "uncoded").split("_"))) for code in codes if codes != [None]]
    return prefix + "".join(word for word in words if word != MEANINGS[status][0]) + "Error"


def _error_schema(status: int, codes: list[str | None]) -> Schema:
    """The schema of the body. `error` is always required; `code` only if every error has one."""
    properties: Schema = {"error": {"type": "string", "examples": [MEANINGS[status][1]]}, "params": PARAMS}
    required = ["error"]
    if words := [code for code in codes if code]:
        properties["code"] = {"type": "string", "enum": words}
        required += ["code"] if len(words) == len(codes) else []
    if status in {400, 409}:
        properties["details"] = {"type": "array", "items": {"$ref": "#/components/schemas/ErrorDetail"}}
    if status == 429:
        properties["retryAfter"] = {"type": "integer", "description": "Seconds to wait.", "examples": [60]}
        required.append("retryAfter")
    return {"type": "object", "description": MEANINGS[status][1], "required": required, "properties": properties}


def add_headers(result: JsonObject, **kwargs: object) -> JsonObject:
    """Postprocessing hook: add to each response its headers, by status and by whether the operation sends an ETag."""
    result["components"]["headers"] = HEADERS
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                sends_etag = "304" in operation["responses"] or response.pop("x-etag", False)
                tags = ["ETag"] if (sends_etag and status in {"200", "201", "304"}) or status == "412" else []
                of_status = () if response.pop("x-without-scheme", False) else _BY_STATUS.get(status, ())
                names = ["X-Request-ID", *tags, *of_status]
                response["headers"] = {
                    **{name: {"$ref": f"#/components/headers/{name}"} for name in names},
                    **response.get("headers", {}),
                }
    return result
