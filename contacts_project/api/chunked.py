"""Bodies that come in chunks, without a length: Django reads none of them, so they get their length here."""

import tempfile
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http.response import HttpResponseBase

_IN_MEMORY = 1024 * 1024


class MeasuredHandler(WSGIHandler):
    """Spools a chunked body (RFC 9112, section 7.1) and tells Django its length.

    At most what the largest upload may be, and a byte: BodyLimitMiddleware refuses what is longer.
    """

    def __call__(self, environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower() and environ.get("wsgi.input_terminated"):
            body = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - goes with the request
            left = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + 1
            while left and (chunk := environ["wsgi.input"].read(min(left, _IN_MEMORY))):
                left -= len(chunk)
                body.write(chunk)
            environ["CONTENT_LENGTH"] = str(body.tell())
            body.seek(0)
            environ["wsgi.input"] = body
        return super().__call__(environ, start_response)
