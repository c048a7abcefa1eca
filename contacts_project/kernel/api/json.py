"""JSON for Django REST framework: parser, renderer, negotiation, responses."""

from collections.abc import Iterable, Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from contacts_project.kernel.api.errors import EncodedBodyError
from contacts_project.kernel.json import JsonObject, Representation, dumps
from contacts_project.kernel.texts import Text, define_text

NESTED_TOO_DEEPLY = define_text("nested_too_deeply", "The body is nested too deeply.")
PARTIAL_BODY = define_text("partial_body", "A PUT takes the whole, not a part of it: send it without Content-Range.")
_NOT_JSON = define_text("not_json", "The body is not valid JSON: %(problem)s.")


class UnreadableBodyError(ParseError):
    """DRF's ParseError, with a Text."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text), code=text.code)


class JSONParser(BaseParser):
    """The parser of JSON endpoints. A body that is not exactly one JSON document gets 400, and so does
    a part of one; one with a content coding 415."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> Any:
        body = stream.read()
        request = parser_context and parser_context.get("request")
        encoding = request.META.get("HTTP_CONTENT_ENCODING", "") if isinstance(request, Request) else ""
        if encoding.lower() not in {"", "identity"}:
            raise EncodedBodyError(encoding[:20])
        # A part would be taken for the whole (RFC 9110, section 14.5).
        if isinstance(request, Request) and request.method == "PUT" and "HTTP_CONTENT_RANGE" in request.META:
            raise UnreadableBodyError(PARTIAL_BODY)
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise UnreadableBodyError(_NOT_JSON.format(problem=str(error))) from None


class SingleMediaType(DefaultContentNegotiation):
    """Ignores Accept: each route has one media type, and errors are JSON (RFC 9110, section 12.5.1, allows this)."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class Metadata(SimpleMetadata):
    """The response to OPTIONS, without the fields of the body: they are in the API description."""

    def determine_actions(self, request: Request, view: object) -> JsonObject:
        return {}


class JSONRenderer(BaseRenderer):
    """Encodes every JSON response of the API."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: object,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, object] | None = None,
    ) -> bytes:
        return b"" if data is None else dumps(data)


def representation_response(name: str, shown: Representation, status: int = 200) -> Response:
    """The response `{ name: record }` with the record's ETag."""
    return Response({name: shown.body}, status=status, headers={"ETag": shown.etag})


class UnstoredResponse(Response):
    """A response that is not stored for an Idempotency-Key: a repeat of the request runs again."""


class SecretResponse(UnstoredResponse):
    """A response that no cache stores, that is not stored for an Idempotency-Key, and that is not compressed.

    The length of a compressed response would reveal something of its content (BREACH).
    """

    def __init__(self, data: object, status: int = 200) -> None:
        # CompressionMiddleware also skips a response with no-store.
        super().__init__(data, status=status, headers={"Cache-Control": "no-store"})
