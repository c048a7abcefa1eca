"""X-Request-ID: echoed or made for each request, and part of each log line (open points, section 1)."""

import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from contacts_project.kernel.api.ids import new_id

log = logging.getLogger(__name__)
_current: ContextVar[str] = ContextVar("request_id", default="-")
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")


class RequestIdMiddleware:
    """Takes the caller's id where it is plain text, makes one otherwise."""

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
