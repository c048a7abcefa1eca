"""Response headers, as components of the API description."""

from typing import Any

from contacts_project.kernel.json import JsonObject

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
