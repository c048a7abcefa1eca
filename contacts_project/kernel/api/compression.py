"""Compression of responses with zstd or gzip: choosing a content coding, and the ETag of each encoded form."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, cast

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from contacts_project.kernel import zstd

MIN_BYTES = 1024
# Measured on lists of people: higher levels take twice the time to save a tenth of the size.
_GZIP_LEVEL, _ZSTD_LEVEL = 4, 3
_CONDITION_HEADERS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")
_CODING_SUFFIX = re.compile(r'-(?:gzip|zstd)"')
# Static files of these types are compressed.
_TEXTS = {"text/css", "text/javascript", "image/svg+xml", "application/manifest+json"}


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "zstd": lambda: zstd.ZstdCompressor(level=_ZSTD_LEVEL),
    "gzip": lambda: zlib.compressobj(_GZIP_LEVEL, wbits=31),  # 31: the largest window, and a gzip header
}


def choose_coding(accepted: str) -> str | None:
    """The coding with the highest weight in an Accept-Encoding header, zstd among equals; None for no compression."""
    weights: dict[str, float] = {}
    for item in accepted.lower().split(","):
        coding, _, weight = item.partition(";")
        try:
            weights[coding.strip()] = float(weight.partition("=")[2] or 1)
        except ValueError:
            return None
    # `*` allows any coding, but many clients that send it cannot decode zstd.
    supported = {"zstd": weights.get("zstd", 0), "gzip": weights.get("gzip", weights.get("*", 0))}
    # max() returns the first of equals.
    best = max(supported, key=lambda coding: supported[coding])
    return best if supported[best] > 0 else None


def plain_tags(tags: str) -> str:
    """The ETags of an If-Match or If-None-Match header without the suffixes of codings."""
    return _CODING_SUFFIX.sub('"', tags)


def restore_coded_tag(response: HttpResponseBase, known: str) -> None:
    """Give a 304 the ETag that the caller sent in If-None-Match (`known`), with the suffix of its coding."""
    plain = response.headers.get("ETag", "")
    for coding in _COMPRESSORS:
        if (tag := coded_tag(plain, coding)) in known:
            response.headers["ETag"] = tag


def coded_tag(tag: str, coding: str) -> str:
    """The ETag of a form in this coding."""
    return f'{tag[:-1]}-{coding}"'


def compress_once(content: bytes, coding: str) -> bytes:
    """Compress what is kept and sent many times. Zstd makes it 8 % smaller in five times the time, gzip
    3 % in twice."""
    return zstd.compress(content, 15) if coding == "zstd" else gzip.compress(content, 9, mtime=0)


def compress(response: HttpResponseBase, accepted: str) -> None:
    """Compress the response for an Accept-Encoding header, and give it the ETag of that form.

    A response below MIN_BYTES stays as it is.
    """
    coding = choose_coding(accepted)
    if coding is None:
        return
    compressor = _COMPRESSORS[coding]()
    if isinstance(response, StreamingHttpResponse):
        pieces = iter(response)
        # The length of a stream is unknown, so its beginning is read first.
        beginning = _read_until(pieces, MIN_BYTES)
        if len(beginning) < MIN_BYTES:
            response.streaming_content = iter([beginning])
            return
        response.streaming_content = _compress_pieces(compressor, beginning, pieces)
        del response.headers["Content-Length"]
    else:
        plain = cast("HttpResponse", response)
        if len(plain.content) < MIN_BYTES:
            return
        plain.content = compressor.compress(plain.content) + compressor.flush()
        plain.headers["Content-Length"] = str(len(plain.content))
    response.headers["Content-Encoding"] = coding
    if response.has_header("ETag"):
        response.headers["ETag"] = coded_tag(response.headers["ETag"], coding)


def _read_until(pieces: Iterator[bytes], size: int) -> bytes:
    read = b""
    for piece in pieces:
        read += piece
        if len(read) >= size:
            break
    return read


def _compress_pieces(compressor: _Compressor, beginning: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield compressor.compress(beginning)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()


class CompressionMiddleware:
    """Compresses JSON of at least a kibibyte with zstd or gzip, as Accept-Encoding allows (RFC 9110, 8.4 and 12.5.3).
    Static files and the web client (pages/web_client.py) are compressed where they are served.

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
            given = request.META.get(name, "")
            if (plain := plain_tags(given)) != given:
                request.META[name] = plain
                vars(request).pop("headers", None)  # a cached property that Django builds from META
        response = self.get_response(request)
        if response.status_code == 304:
            patch_vary_headers(response, ["Accept-Encoding"])
            restore_coded_tag(response, known)
        elif (
            response.headers.get("Content-Type", "").partition(";")[0] == "application/json"
            and not response.has_header("Content-Encoding")
            and "no-store" not in response.headers.get("Cache-Control", "")
        ):
            patch_vary_headers(response, ["Accept-Encoding"])
            if accepted := request.META.get("HTTP_ACCEPT_ENCODING"):
                compress(response, accepted)
        return response


@lru_cache(maxsize=2048)  # more than there are static files, of this service and of the packages, in two codings
def _compressed(path: str, coding: str) -> bytes:
    return compress_once(Path(path).read_bytes(), coding)


def _path(static_file: Any) -> str:
    """The path of the plain form. WhiteNoise lists all forms, each with the pattern of the codings that ask for it."""
    path: str = next(path for pattern, path, _ in static_file.alternatives if not pattern.pattern)
    return path


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """WhiteNoise with compression, so that no compressed file has to be built, stored and kept current.

    Each process compresses each file once, as strongly as pays off; no file changes while it runs. A part of a file
    (206) is a part of the plain form, and is sent so.
    """

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponseBase:
        # Asked as for HEAD, WhiteNoise opens no file.
        found = static_file.get_response("HEAD" if request.method == "GET" else request.method, request.META)
        headers = dict(found.headers)
        if headers.get("Content-Type", "").partition(";")[0] not in _TEXTS:
            return cast("HttpResponseBase", WhiteNoiseMiddleware.serve(static_file, request))
        coding = choose_coding(request.META.get("HTTP_ACCEPT_ENCODING", ""))
        # A package may have brought a compressed form, which WhiteNoise has chosen.
        is_plain = found.status == HTTPStatus.OK and "Content-Encoding" not in headers
        body = _compressed(_path(static_file), coding) if coding and is_plain else None
        if coding is None or body is None or len(body) >= int(headers["Content-Length"]):
            response: HttpResponseBase = WhiteNoiseMiddleware.serve(static_file, request)
        else:
            response = HttpResponse(b"" if request.method == "HEAD" else body, headers=headers)
            response.headers["Content-Length"] = str(len(body))
            response.headers["Content-Encoding"] = coding
            response.headers["ETag"] = coded_tag(headers["ETag"], coding)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response
