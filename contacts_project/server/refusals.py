"""Error responses that the server gives without the application, in the same JSON format as those of the API."""

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.json import dumps

Headers = list[tuple[bytes, bytes]]

RETRY_SECONDS = 10
_MESSAGES = {
    400: ("The request is malformed.", None),
    408: ("The request came too slowly.", None),
    431: ("The request's address and headers are too long: at most 32 KiB together.", "too_large"),
    500: ("Something went wrong on our side. The failure has been logged.", None),
    501: ("The request uses a transfer coding that is not known here.", None),
    503: ("The service is busy. Try again later.", "unavailable"),
}


def refusal(status: int) -> tuple[Headers, bytes]:
    """Return headers and body. `Connection: close` is set, since the rest of the request may still be unread."""
    text, code = _MESSAGES[status]
    body = dumps({"error": text, "code": code} if code else {"error": text})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-request-id", str(new_id()).encode()),
        (b"connection", b"close"),
    ]
    return [*headers, (b"retry-after", b"%d" % RETRY_SECONDS)] if status == 503 else headers, body


class RefusedError(Exception):
    """The server answers with `status`: the request is not passed to the application, or no response can be kept."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
