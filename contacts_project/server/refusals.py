"""Error responses that the server gives without the application, in the same JSON format as those of the API."""

from django.utils.translation import override

from contacts_project.kernel.api.errors import INTERNAL
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import dumps
from contacts_project.kernel.languages import best_language
from contacts_project.kernel.texts import define_text

Headers = list[tuple[bytes, bytes]]

RETRY_SECONDS = 10
#: The code of a response, and its text.
_TEXTS = {
    400: ("malformed", define_text("malformed", "The request is malformed.")),
    408: ("too_slow", define_text("request_too_slow", "The request came too slowly.")),
    431: (
        "too_large",
        define_text(
            "headers_too_long", "The request's address and headers are too long: at most %(limit)s KiB together."
        ).format(limit=32),
    ),
    429: (
        "rate_limited",
        define_text(
            "too_many_at_once",
            "Too many requests from this address at once. Try again in %(seconds)s seconds.",
        ).format(seconds=RETRY_SECONDS),
    ),
    500: ("internal", INTERNAL),
    501: (
        "not_implemented",
        define_text("transfer_coding_unknown", "The request uses a transfer coding that is not known here."),
    ),
    503: ("unavailable", define_text("service_busy", "The service is busy. Try again later.")),
}


def refusal(status: int, accept_language: str = "") -> tuple[Headers, bytes]:
    """Return headers and body. `Connection: close` is set, since the rest of the request may still be unread."""
    code, text = _TEXTS[status]
    with override(best_language(accept_language)):
        answer: dict[str, object] = {"error": str(text), "code": code}
        if text.params:
            answer["params"] = text.described_params()
    if status == 429:
        answer["retryAfter"] = RETRY_SECONDS
    body = dumps(answer)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-request-id", str(new_id()).encode()),
        (b"connection", b"close"),
    ]
    return [*headers, (b"retry-after", b"%d" % RETRY_SECONDS)] if status in {429, 503} else headers, body


class RefusedError(Exception):
    """The server answers with `status`: the request is not passed to the application, or no response can be kept."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
