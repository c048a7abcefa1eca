"""The middleware around every request: its id, its log line, its metrics.

Log and metrics contain the template of the route, spelled as in the API description (`/api/people/{personId}`). All
unknown paths share one metric series, and so do all unknown methods: otherwise any client could create series.
"""

import logging
import re
import time
from collections.abc import Callable
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import deactivate

from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.ids import new_id, parse_id
from contacts_project.kernel.json import camel_case
from contacts_project.kernel.logs import request_id
from contacts_project.kernel.metrics import Counter, Histogram

log = logging.getLogger(__name__)
_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
# Key in request.META: when the web server had received the whole request (time.perf_counter). It may have waited for a
# thread since then, which counts as latency.
RECEIVED_AT = "contacts.received_at"
# The account that has sent the request, for what is counted after the middleware has returned.
ACCOUNT = "contacts.account"

UNKNOWN = "unknown"
_REFUSED = "refused"
_KNOWN_METHODS = {
    *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
    *("PROPFIND", "PROPPATCH", "REPORT", "MKCOL", "MOVE", "COPY"),  # of the DAV server
}
_ROUTE_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
_LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = Counter(
    "contacts_http_requests_total", "Requests by the template of their route.", ("route", "method", "status")
)
_LATENCY = Histogram(
    "contacts_http_request_seconds", "From the request's last byte to its answer's first.", ("route",), _LATENCY_BUCKETS
)


class RequestLogMiddleware:
    """Logs and counts each request, and sets X-Request-ID, which every log line contains.

    The id of the client is kept if it is plain text, else a new one is made. This middleware is the outermost, so that
    it measures the whole request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        chosen_id = given if _REQUEST_ID_PATTERN.match(given) else str(new_id())
        # Not reset at the end, because Django logs a 4xx or 5xx after the last middleware has returned.
        request_id.set(chosen_id)
        start = request.META.get(RECEIVED_AT) or time.perf_counter()
        response = self.get_response(request)
        # Of whoever streams the body, which is made after this.
        request.META[ACCOUNT] = account_of_request.get()
        # The language and the id of this account: the next request on this thread has its own.
        deactivate()
        account_of_request.set(None)
        seconds = time.perf_counter() - start
        route, method = route_of(request), method_of(request.method)
        _REQUESTS.count(route, method, str(response.status_code))
        _LATENCY.observe(seconds, route)
        log.info(
            "request",
            extra={
                "method": method,
                "route": route,
                "ids": ids_of(request),
                "status": response.status_code,
                "milliseconds": round(seconds * 1000, 1),
            },
        )
        response["X-Request-ID"] = chosen_id
        return response


def count_refusal(method: str | None, status: int) -> None:
    """Count a request that the web server refused itself: too slow, too long, malformed, or too many at once."""
    _REQUESTS.count(_REFUSED, method_of(method), str(status))


def method_of(method: str | None) -> str:
    return method if method in _KNOWN_METHODS else UNKNOWN


def ids_of(request: HttpRequest) -> list[str]:
    """The ids in the path. Other values of the path are left out, since a client may write anything there."""
    match = request.resolver_match
    # Routes of pages accept any text as an id, and parse it in the view.
    found = (value if isinstance(value, UUID) else parse_id(value) for value in match.kwargs.values()) if match else ()
    return [str(key) for key in found if key]


def route_of(request: HttpRequest) -> str:
    """The template of the matched route, `/static/` for static files, else `unknown`."""
    match = request.resolver_match
    if match is not None:
        return _template(match.route)
    return settings.STATIC_URL if request.path.startswith(settings.STATIC_URL) else UNKNOWN


@lru_cache(maxsize=2000)
def _template(route: str) -> str:
    return "/" + _ROUTE_PARAMETER.sub(lambda found: f"{{{camel_case(found[1])}}}", route)
