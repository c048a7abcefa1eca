"""Bodies are bounded by what their view takes."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from contacts_project.kernel.api.errors import too_large_response

# A multipart upload may be longer than its file by the room of its envelope.
ENVELOPE_BYTES = 64 * 1024


class BodyLimitMiddleware:
    """413 for a body longer than the view's `max_body_bytes` (the name of a setting; default MAX_JSON_BYTES).

    It judges by CONTENT_LENGTH. The web server keeps no more of a body than `kept_bytes`, and says how long it was.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        limit = max_body_bytes(view)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) <= limit + _envelope(request.content_type or ""):
            return None
        return too_large_response(limit)


def max_body_bytes(view: Any) -> int:
    """How long a body the view takes."""
    of_view = getattr(getattr(view, "cls", view), "max_body_bytes", "MAX_JSON_BYTES")
    limit: int = getattr(settings, getattr(view, "initkwargs", {}).get("max_body_bytes", of_view))  # its @action's
    return limit


def kept_bytes(path: str, content_type: str) -> int:
    """How much of a body sent to `path` anything can come of."""
    try:
        view = resolve(path).func
    except Resolver404:
        return 0
    return max_body_bytes(view) + _envelope(content_type)


def _envelope(content_type: str) -> int:
    return ENVELOPE_BYTES if content_type.lower().startswith("multipart/form-data") else 0
