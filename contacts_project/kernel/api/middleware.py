"""What surrounds every request: its id, its line in the log, its part in the metrics, the headers of its answer, how
long its body may be, and whether the answer is compressed.

Log and metrics name a route by its template, as the API description spells it (`/api/people/{personId}`): whatever a
stranger asks for that is no route is one series, and so is every method of his own making.
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

from contacts_project.kernel.api.compression import compress, name_known_form, plain_tags
from contacts_project.kernel.api.errors import too_large_response
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.api.logs import request_id
from contacts_project.kernel.metrics import Counter, Histogram

log = logging.getLogger(__name__)
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
# A multipart upload may be longer than its file by the room of its envelope.
ENVELOPE_BYTES = 64 * 1024
# When the web server had all of the request (time.perf_counter); it may wait for a thread after that.
RECEIVED_AT = "contacts.received_at"
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")

UNKNOWN = "unknown"
_REFUSED = "refused"
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = Counter(
    "contacts_http_requests_total", "Requests by the template of their route.", ("route", "method", "status")
)
_LATENCY = Histogram(
    "contacts_http_request_seconds", "From the request's last byte to its answer's first.", ("route",), _SECONDS
)


class RequestIdMiddleware:
    """X-Request-ID: echoed where it is plain text, made otherwise, and part of each line of the log (open points,
    section 1). The outermost, so that what it counts and logs is all of a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        known_as = given if _ACCEPTED.match(given) else str(new_id())
        request_id.set(known_as)  # never reset: Django logs a refusal after the last middleware has returned
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
        response["X-Request-ID"] = known_as
        return response


def count_refusal(method: str | None, status: int) -> None:
    """Count one that the web server answered by itself: too slow, too long, malformed, or no room for it."""
    _REQUESTS.count(_REFUSED, method_of(method), str(status))


def method_of(method: str | None) -> str:
    return method if method in _METHODS else UNKNOWN


def ids_of(request: HttpRequest) -> list[str]:
    """The ids in the path; what else may stand there is left out: it may be anything."""
    match = request.resolver_match
    # A page takes any text for an id, and looks itself.
    found = (value if isinstance(value, UUID) else parse_id(value) for value in match.kwargs.values()) if match else ()
    return [str(key) for key in found if key]


def route_of(request: HttpRequest) -> str:
    """The template of the route that Django found, `/static/` for files of ours, else `unknown`."""
    match = request.resolver_match
    if match is not None:
        return _template(match.route)
    return settings.STATIC_URL if request.path.startswith(settings.STATIC_URL) else UNKNOWN


@lru_cache(maxsize=2000)
def _template(route: str) -> str:
    return "/" + _PARAMETER.sub(lambda found: f"{{{_camel_case(found[1])}}}", route)


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.title() for part in others)


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
        if length.isdigit() and int(length) <= limit + _envelope(request.content_type or ""):
            return None
        return too_large_response(limit)


def max_body_bytes(view: Any) -> int:
    """How long a body the view takes."""
    of_view = getattr(getattr(view, "cls", view), "max_body_bytes", "MAX_JSON_BYTES")
    limit: int = getattr(settings, getattr(view, "initkwargs", {}).get("max_body_bytes", of_view))  # its @action's
    return limit


def max_kept_body_bytes(path: str, content_type: str) -> int:
    """How much of a body sent to `path` anything can come of."""
    try:
        view = resolve(path).func
    except Resolver404:
        return 0
    return max_body_bytes(view) + _envelope(content_type)


def _envelope(content_type: str) -> int:
    return ENVELOPE_BYTES if content_type.lower().startswith("multipart/form-data") else 0


class CompressionMiddleware:
    """JSON beyond a kibibyte travels compressed, by what the caller takes (RFC 9110, 8.4 and 12.5.3): zstd, else gzip.

    Each form of an answer has a strong ETag of its own (8.8.3): `"…-gzip"` and `"…-zstd"` beside the plain `"…"`. They
    stand for the same state, so what comes back in If-None-Match or If-Match is read without the ending: every caller
    may send back what it got, in whatever coding it asks this time.

    An answer whose view says that it must not be stored holds a secret, and is left as it is: what it is compressed
    with may be of somebody else's choosing, and the length would tell (BREACH). Pages with CSRF tokens are no JSON.

    It stands outside of whatever looks at tags, and inside of AnswerHeadersMiddleware and its no-store for the rest.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        known = request.META.get("HTTP_IF_NONE_MATCH", "")
        for name in _CONDITIONS:
            if name in request.META:
                request.META[name] = plain_tags(request.META[name])
                vars(request).pop("headers", None)  # what Django has made of META so far
        response = self.get_response(request)
        if response.status_code == 304:
            patch_vary_headers(response, ["Accept-Encoding"])
            name_known_form(response, known)
        elif (
            response.headers.get("Content-Type", "").startswith("application/json")
            and not response.has_header("Content-Encoding")
            and "no-store" not in response.headers.get("Cache-Control", "")
        ):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepted := request.META.get("HTTP_ACCEPT_ENCODING"):
                compress(response, accepted)
        return response
