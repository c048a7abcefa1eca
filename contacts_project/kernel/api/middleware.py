"""Middleware around every request: request id, log line, metrics, response headers, limit of the body, compression.

Log and metrics contain the template of the route, spelled as in the API description (`/api/people/{personId}`). All
unknown paths share one metric series, and so do all unknown methods: otherwise any client could create series.
"""

import logging
import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers

from contacts_project.kernel.api.compression import compress, plain_tags, restore_coded_tag
from contacts_project.kernel.api.errors import too_large_response
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.json import camel_case, parse_id
from contacts_project.kernel.api.logs import request_id
from contacts_project.kernel.metrics import Counter, Histogram

log = logging.getLogger(__name__)
_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
# A multipart body may be this much longer than the limit of its file, for boundaries, headers and small fields.
ENVELOPE_BYTES = 64 * 1024
# Key in request.META: when the web server had received the whole request (time.perf_counter). It may have waited for a
# thread since then, which counts as latency.
RECEIVED_AT = "contacts.received_at"
_CONDITION_HEADERS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")

UNKNOWN = "unknown"
_REFUSED = "refused"
_KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
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


class ResponseHeadersMiddleware:
    """Sets Content-Security-Policy and `Cache-Control: no-store` on every response that does not set them itself.

    A response may contain a token that is shown once, or personal data, so caches store it only if the view allows it.
    The policy is on every response, because a browser may be tricked into showing any of them as a page.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class BodyLimitMiddleware:
    """413 for a body longer than the view's `max_body_bytes` (the name of a setting; default MAX_JSON_BYTES).

    It checks CONTENT_LENGTH. The web server stores at most `max_kept_body_bytes` of a body, but passes its full length.
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
        # A Content-Length that is no number is refused as well: its body could have any size.
        if length.isdigit() and int(length) <= limit + _envelope_bytes(request.content_type or ""):
            return None
        return too_large_response(limit)


def max_body_bytes(view: Any) -> int:
    """The longest body that the view accepts, in bytes."""
    of_class = getattr(getattr(view, "cls", view), "max_body_bytes", "MAX_JSON_BYTES")
    # DRF keeps the keyword arguments of an @action in `initkwargs`. They take precedence over the class.
    setting = getattr(view, "initkwargs", {}).get("max_body_bytes", of_class)
    limit: int = getattr(settings, setting)
    return limit


def max_kept_body_bytes(path: str, content_type: str) -> int:
    """How many bytes of a body the web server keeps for a request to `path`: none if no view would read them."""
    try:
        view = resolve(path).func
    except Resolver404:
        return 0
    return max_body_bytes(view) + _envelope_bytes(content_type)


def _envelope_bytes(content_type: str) -> int:
    return ENVELOPE_BYTES if content_type.lower().startswith("multipart/form-data") else 0


class CompressionMiddleware:
    """Compresses JSON of at least a kibibyte with zstd or gzip, as Accept-Encoding allows (RFC 9110, 8.4 and 12.5.3).

    Each encoded form has a strong ETag of its own (8.8.3): `"…-gzip"` and `"…-zstd"` beside the plain `"…"`. All stand
    for the same state, so the suffixes in If-None-Match and If-Match are removed before the view compares them. A
    client may send back any ETag it got, whatever coding it accepts this time.

    A response that its view marks with `no-store` contains a secret and is not compressed: if it also contains text
    that an attacker chose, its length reveals something of the secret (BREACH). Pages with CSRF tokens are not JSON.

    In the list of middleware it must be before everything that compares ETags, and after ResponseHeadersMiddleware,
    whose `no-store` would switch compression off for all responses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        known = request.META.get("HTTP_IF_NONE_MATCH", "")
        for name in _CONDITION_HEADERS:
            if name in request.META:
                request.META[name] = plain_tags(request.META[name])
                vars(request).pop("headers", None)  # a cached property that Django builds from META
        response = self.get_response(request)
        if response.status_code == 304:
            patch_vary_headers(response, ["Accept-Encoding"])
            restore_coded_tag(response, known)
        elif (
            response.headers.get("Content-Type", "").startswith("application/json")
            and not response.has_header("Content-Encoding")
            and "no-store" not in response.headers.get("Cache-Control", "")
        ):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepted := request.META.get("HTTP_ACCEPT_ENCODING"):
                compress(response, accepted)
        return response
