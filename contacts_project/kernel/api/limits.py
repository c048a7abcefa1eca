"""Bodies are bounded by what their view takes, before a byte of them is kept."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from contacts_project.kernel.api.errors import too_large_response

MAX_DRAINED = 64 * 1024 * 1024


class BodyLimitMiddleware:
    """413 for a body longer than the view's `max_body_bytes` (the name of a setting; default MAX_JSON_BYTES).

    A multipart upload may be longer than its file by the room of its envelope. A chunked body (RFC 9112 7.1) does not
    say its length: it is read up to the limit and measured.
    """

    ENVELOPE_BYTES = 64 * 1024

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        name = getattr(getattr(view, "cls", view), "max_body_bytes", "MAX_JSON_BYTES")
        limit: int = getattr(settings, name)
        allowed = limit + (self.ENVELOPE_BYTES if request.content_type == "multipart/form-data" else 0)
        length = request.META.get("CONTENT_LENGTH") or str(measure_chunked(request, allowed))
        if length.isdigit() and int(length) <= allowed:
            return None
        drain(request, int(length) if length.isdigit() else 0)
        return too_large_response(limit)


def drain(request: HttpRequest, length: int) -> None:
    """Read what is left of a refused body, within reason: the server cuts a connection with more to come, and a
    client that keeps it would find its next request unanswered."""
    left = length if length <= MAX_DRAINED else 0
    while left and (chunk := request.META["wsgi.input"].read(min(left, 64 * 1024))):
        left -= len(chunk)


def measure_chunked(request: HttpRequest, allowed: int) -> int:
    """The length in bytes of a body that does not say it, at most `allowed` + 1; Django would take it for empty."""
    if not request.META.get("wsgi.input_terminated") or "HTTP_TRANSFER_ENCODING" not in request.META:
        return 0
    body = request.META["wsgi.input"].read(allowed + 1)
    request.META["CONTENT_LENGTH"] = str(len(body))
    request._stream = BytesIO(body)
    return len(body)
