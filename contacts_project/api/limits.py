"""Bodies are bounded by what their view takes, before a byte of them is read."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from contacts_project.api.errors import too_large_response


class BodyLimitMiddleware:
    """413 for a body longer than the view's `max_body_bytes` (the name of a setting; default MAX_JSON_BYTES).

    A multipart upload may be longer than its file by the room of its envelope.
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
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) <= allowed:
            return None
        return too_large_response(limit)
