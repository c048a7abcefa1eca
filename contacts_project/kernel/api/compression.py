"""JSON beyond a kibibyte travels compressed, by what the caller takes (RFC 9110, 8.4 and 12.5.3): zstd, else gzip.

Each form of an answer has a strong ETag of its own (8.8.3): `"…-gzip"` and `"…-zstd"` beside the plain `"…"`. They
stand for the same state, so what comes back in If-None-Match or If-Match is read without the ending: every caller may
send back what it got, in whatever coding it asks this time.

An answer whose view says that it must not be stored holds a secret, and is left as it is: what it is compressed with
may be of somebody else's choosing, and the length would tell (BREACH). Pages with CSRF tokens are no JSON.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, cast

from backports import zstd
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

MIN_BYTES = 1024
# Measured on lists of people: more takes twice the time for a tenth of the size.
_GZIP_LEVEL, _ZSTD_LEVEL = 4, 3
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH")
_ENDING = re.compile(r'-(?:gzip|zstd)"')


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "zstd": lambda: zstd.ZstdCompressor(level=_ZSTD_LEVEL),
    "gzip": lambda: zlib.compressobj(_GZIP_LEVEL, wbits=31),  # 31: with gzip's header
}


class CompressionMiddleware:
    """Stands outside of whatever looks at tags, and inside of AnswerHeadersMiddleware and its no-store for the rest."""

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
