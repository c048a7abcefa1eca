"""The refusals of an operation: by status, with the codes that each can have there.

An operation's own answers hold `x-codes`; once all are known, each set of codes becomes one schema and one answer,
which operations share (`add_error_schemas`).
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from contacts_project.kernel.api.errors import failure_of

Schema = dict[str, Any]

#: Statuses of refusals: the beginning of a schema's name, and what they mean.
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
DETAIL: Schema = {
    "type": "object",
    "description": "One thing that is wrong with the request.",
    "required": ["field", "message"],
    "properties": {
        "field": {"type": "string", "description": "Dotted, as in the body.", "examples": ["emails.0.email"]},
        "message": {"type": "string", "examples": ["This is not an e-mail address."]},
    },
}


def failure_answers(errors: Iterable[type[Exception]]) -> Schema:
    """Answers by status, for now with nothing but their codes; None among them: a refusal without a code."""
    codes: dict[int, set[str | None]] = defaultdict(set)
    with_success = set()
    for failure in map(failure_of, errors):
        codes[failure.status].update(failure.codes or (failure.code,))
        with_success |= {failure.status} if failure.has_success else set()
    return {
        str(status): {"x-codes": sorted(codes[status], key=str), "x-success": status in with_success}
        for status in sorted(codes)
    }


def add_error_schemas(result: Schema, **kwargs: Any) -> Schema:
    """Postprocessing hook, after that of the headers: a schema and an answer for every set of codes."""
    components = result["components"]
    components["schemas"]["ErrorDetail"] = DETAIL
    components["responses"] = {}
    for path in result["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                if "x-codes" in answer:
                    name = _name(int(status), answer["x-codes"], answer.get("x-current", {}))
                    components["schemas"][name] = _schema(int(status), answer["x-codes"])
                    if current := answer.get("x-current"):
                        components["schemas"][name]["properties"]["current"] = current
                        components["schemas"][name]["required"].append("current")
                    if answer["x-success"]:
                        components["schemas"][name]["properties"]["success"] = {"type": "boolean", "examples": [False]}
                    described = {**_answer(int(status), name), "headers": answer["headers"]}
                    if pages := answer.get("x-content"):
                        described["content"] |= pages
                        operation["responses"][status] = described
                        continue
                    components["responses"][name] = described
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return result


def _name(status: int, codes: list[str | None], current: Schema) -> str:
    record: str = current.get("$ref", "")
    beginning = MEANINGS[status][0] + record.rpartition("/")[2]
    words = ["".join(map(str.capitalize, (code or "uncoded").split("_"))) for code in codes if codes != [None]]
    return beginning + "".join(word for word in words if word != MEANINGS[status][0]) + "Error"


def _schema(status: int, codes: list[str | None]) -> Schema:
    """The body: `error` always, `code` unless there is a refusal without one."""
    properties: Schema = {"error": {"type": "string", "examples": [MEANINGS[status][1]]}}
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


def _answer(status: int, name: str) -> Schema:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": MEANINGS[status][1], "content": {"application/json": {"schema": schema}}}
