"""Static files, served by WhiteNoise. Texts are compressed when they are first asked for, and kept in memory."""

from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from contacts_project.kernel.api.compression import choose_coding, coded_tag, compress_once

_TEXTS = {"text/css", "text/javascript", "image/svg+xml", "application/manifest+json"}


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
