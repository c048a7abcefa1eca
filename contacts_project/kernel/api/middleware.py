"""What surrounds every request: its id, the headers of its answer, and how long its body may be."""

import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from contacts_project.kernel.api.errors import too_large_response
from contacts_project.kernel.api.ids import new_id

log = logging.getLogger(__name__)
_current: ContextVar[str] = ContextVar("request_id", default="-")
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
# A multipart upload may be longer than its file by the room of its envelope.
ENVELOPE_BYTES = 64 * 1024


class RequestIdMiddleware:
    """X-Request-ID: echoed where it is plain text, made otherwise, and part of each line of the log (open points,
    section 1)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if _ACCEPTED.match(given) else str(new_id())
        _current.set(request_id)  # never reset: Django logs a refusal after the last middleware has returned
        start = time.perf_counter()
        response = self.get_response(request)
        log.info(
            "request",
            extra={
                "method": request.method,
                "path": request.path,
                "status": response.status_code,
                "milliseconds": round((time.perf_counter() - start) * 1000, 1),
            },
        )
        response["X-Request-ID"] = request_id
        return response


class RequestIdFilter(logging.Filter):
    """Puts the id of the request being served on every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True


class AnswerHeadersMiddleware:
    """Content-Security-Policy for whatever a browser may take for a page, and `no-store`: what an answer holds, a token
    that is shown once or somebody's address, is kept by a cache only where the view allows it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


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
