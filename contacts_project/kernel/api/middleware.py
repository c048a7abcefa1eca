"""What surrounds every request: its id, the headers of its answer, how long its body may be, and compression."""

import logging
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, cast

from backports import zstd
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers

from contacts_project.kernel.api.errors import too_large_response
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.logs import request_id
from contacts_project.kernel.api.request_metrics import count_request, ids_of, method_of, route_of

log = logging.getLogger(__name__)
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
# A multipart upload may be longer than its file by the room of its envelope.
ENVELOPE_BYTES = 64 * 1024
MIN_BYTES = 1024
# When the web server had all of the request (time.perf_counter); it may wait for a thread after that.
RECEIVED_AT = "contacts.received_at"
# Measured on lists of people: more takes twice the time for a tenth of the size.
_GZIP_LEVEL, _ZSTD_LEVEL = 4, 3
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")
_ENDING = re.compile(r'-(?:gzip|zstd)"')


class RequestIdMiddleware:
    """X-Request-ID: echoed where it is plain text, made otherwise, and part of each line of the log (open points,
    section 1)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        known_as = given if _ACCEPTED.match(given) else str(new_id())
        request_id.set(known_as)  # never reset: Django logs a refusal after the last middleware has returned
        start = request.META.get(RECEIVED_AT) or time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - start
        route = route_of(request)
        count_request(route, request.method, response.status_code, seconds)
        log.info(
            "request",
            extra={
                "method": method_of(request.method),
                "route": route,
                "ids": ids_of(request),
                "status": response.status_code,
                "milliseconds": round(seconds * 1000, 1),
            },
        )
        response["X-Request-ID"] = known_as
        return response


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


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "zstd": lambda: zstd.ZstdCompressor(level=_ZSTD_LEVEL),
    "gzip": lambda: zlib.compressobj(_GZIP_LEVEL, wbits=31),  # 31: with gzip's header
}


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
                request.META[name] = _ENDING.sub('"', request.META[name])
                vars(request).pop("headers", None)  # what Django has made of META so far
        response = self.get_response(request)
        if response.status_code == 304:
            patch_vary_headers(response, ["Accept-Encoding"])
            _name_what_is_known(response, known)
        elif _may_be_compressed(response):
            patch_vary_headers(response, ["Accept-Encoding"])
            if coding := choose(request.META.get("HTTP_ACCEPT_ENCODING", "")):
                _compress(response, coding)
        return response


def choose(accepted: str) -> str | None:
    """The coding for an Accept-Encoding header: what the caller likes best, of equals zstd; None for none."""
    weights: dict[str, float] = {}
    for item in accepted.lower().split(","):
        coding, _, weight = item.partition(";")
        try:
            weights[coding.strip()] = float(weight.partition("=")[2] or 1)
        except ValueError:
            return None
    # `*` alone is no proof that a caller knows zstd.
    liked = {"zstd": weights.get("zstd", 0), "gzip": weights.get("gzip", weights.get("*", 0))}
    best = max(liked, key=lambda coding: liked[coding])
    return best if liked[best] > 0 else None


def _may_be_compressed(response: HttpResponseBase) -> bool:
    return (
        response.headers.get("Content-Type", "").startswith("application/json")
        and not response.has_header("Content-Encoding")
        and "no-store" not in response.headers.get("Cache-Control", "")
    )


def _name_what_is_known(response: HttpResponseBase, known: str) -> None:
    """A 304 has the tag that the caller holds."""
    plain = response.headers.get("ETag", "")
    for coding in _COMPRESSORS:
        if (tag := _with_ending(plain, coding)) in known:
            response.headers["ETag"] = tag


def _with_ending(tag: str, coding: str) -> str:
    return f'{tag[:-1]}-{coding}"'


def _compress(response: HttpResponseBase, coding: str) -> None:
    compressor = _COMPRESSORS[coding]()
    if isinstance(response, StreamingHttpResponse):
        pieces = iter(response)
        beginning = _read_until(pieces, MIN_BYTES)
        if len(beginning) < MIN_BYTES:
            response.streaming_content = iter([beginning])
            return
        response.streaming_content = _compressed(compressor, beginning, pieces)
        del response.headers["Content-Length"]
    else:
        plain = cast("HttpResponse", response)
        if len(plain.content) < MIN_BYTES:
            return
        plain.content = compressor.compress(plain.content) + compressor.flush()
        plain.headers["Content-Length"] = str(len(plain.content))
    response.headers["Content-Encoding"] = coding
    if response.has_header("ETag"):
        response.headers["ETag"] = _with_ending(response.headers["ETag"], coding)


def _read_until(pieces: Iterator[bytes], size: int) -> bytes:
    read = b""
    for piece in pieces:
        read += piece
        if len(read) >= size:
            break
    return read


def _compressed(compressor: _Compressor, beginning: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield compressor.compress(beginning)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()
