"""JSON in and out by orjson: strict input (RFC 8259, no lone surrogates, bounded depth), fast output."""

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList


def timestamp(moment: dt.datetime | None) -> str | None:
    """Format a moment as the contract wants it: UTC, milliseconds, `Z`."""
    if moment is None:
        return None
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _encode_other(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return timestamp(value)
    if isinstance(value, ReturnDict):
        return dict(value)
    if isinstance(value, ReturnList | tuple | set | frozenset):
        return list(value)
    return str(value)


def dumps(value: Any) -> bytes:
    """Encode to JSON; datetimes as `timestamp` does, ids and lazy texts as text."""
    return orjson.dumps(value, _encode_other, orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS)


ascii_json = json.JSONEncoder(separators=(",", ":")).encode
"""JSON as text of ASCII alone: for pieces of a long text, which one wide character makes slow to join and encode."""


# Entries in a piece of a streamed answer.
_CHUNK = 25


def streamed(name: str, entries: Iterable[bytes]) -> Iterator[bytes]:
    """The JSON of `{name: [...]}` in pieces, of entries that are JSON, so that the answer is never whole in memory."""
    left, opening = iter(entries), b'{"%b":[' % name.encode()
    beginning = opening
    while piece := b",".join(islice(left, _CHUNK)):
        yield beginning + piece
        beginning = b","
    yield b"]}" if beginning == b"," else opening + b"]}"


class JSONParser(BaseParser):
    """The only parser of JSON endpoints. Anything that is not one JSON document is a 400."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read()
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from None


class AnyAccept(DefaultContentNegotiation):
    """Each route answers in one media type, whatever the caller says it accepts; failures are JSON."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Metadata(SimpleMetadata):
    """What OPTIONS answers: no fields, which the API description has."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        return {}


class JSONRenderer(BaseRenderer):
    """Encodes every answer of the API."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else dumps(data)
