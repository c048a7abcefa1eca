"""JSON with orjson: the parser and renderer of the API, the text form of ids and times, and records with their ETag.

orjson is strict on input (RFC 8259, no lone surrogates, bounded depth) and fast on output.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, NamedTuple
from uuid import UUID

import orjson
import uuid_utils
from rest_framework.exceptions import ParseError
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList


def parse_id(text: object) -> UUID | None:
    """Return the UUID that `text` is in its form with hyphens, else None."""
    if not isinstance(text, str):
        return None
    try:
        # UUID() also accepts 32 bare digits, braces and `urn:uuid:`; the API takes the usual form alone.
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None


def format_id(key: str) -> str:
    """The id with hyphens, from its 32 digits (IdHex). Slicing the text takes a third longer."""
    return str(uuid_utils.UUID(key))


def camel_case(name: str) -> str:
    """The JSON name of a column: `phone_numbers` as `phoneNumbers`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def format_timestamp(timestamp: dt.datetime | None) -> str | None:
    """Format a time as the API contract requires it: UTC, milliseconds (cut off, not rounded), `Z`."""
    if timestamp is None:
        return None
    return timestamp.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_encodable(value: Any) -> Any:
    """Convert a value whose type orjson does not encode by itself. Lazy translations become text."""
    if isinstance(value, dt.datetime):
        return format_timestamp(value)
    if isinstance(value, ReturnDict):
        return dict(value)
    if isinstance(value, ReturnList | tuple | set | frozenset):
        return list(value)
    return str(value)


def dumps(value: Any) -> bytes:
    """Encode to JSON. Datetimes as in `format_timestamp`, ids and lazy translations as text."""
    return orjson.dumps(value, _to_encodable, orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS)


dumps_ascii = json.JSONEncoder(separators=(",", ":")).encode
"""Encode to ASCII-only JSON text, for parts of a long text: one wide character would double or quadruple the memory of
the joined text and slow down joining and encoding it."""


# Entries per chunk of a streamed list.
_CHUNK_SIZE = 25


def stream_list(name: str, entries: Iterable[bytes], *, chunk_size: int = _CHUNK_SIZE) -> Iterator[bytes]:
    """Yield the JSON `{name: [...]}` in chunks of `chunk_size` entries. The whole list is never in memory.

    `entries` are JSON; each may also be several entries with commas between them.
    """
    remaining, opening = iter(entries), b'{"%b":[' % name.encode()
    prefix = opening
    while chunk := b",".join(islice(remaining, chunk_size)):
        yield prefix + chunk
        prefix = b","
    yield b"]}" if prefix == b"," else opening + b"]}"


class JSONParser(BaseParser):
    """The parser of JSON endpoints. A body that is not exactly one JSON document gets 400."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read()
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from None


class SingleMediaType(DefaultContentNegotiation):
    """Ignores Accept: each route has one media type, and errors are JSON (RFC 9110, section 12.5.1, allows this)."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Metadata(SimpleMetadata):
    """The response to OPTIONS, without the fields of the body: they are in the API description."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        return {}


class JSONRenderer(BaseRenderer):
    """Encodes every JSON response of the API."""

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


class Representation(NamedTuple):
    """The body of a record as its GET returns it (a dictionary or an orjson.Fragment), and the revision of its row.

    Read the revision together with the row, or before the rest of the body: then a body can be newer than its revision,
    but never older, and a client never keeps old data under a new ETag.
    """

    revision: int
    body: Any

    @property
    def etag(self) -> str:
        """A strong validator: the revision that changed the record last, and a digest of its JSON.

        The digest covers what the body repeats from other records, such as the names of groups. Those can change
        without a new revision of this record.
        """
        return f'"{self.revision:x}-{hashlib.blake2b(dumps(self.body), digest_size=8).hexdigest()}"'


def representation_response(name: str, shown: Representation, status: int = 200) -> Response:
    """The response `{ name: record }` with the record's ETag."""
    return Response({name: shown.body}, status=status, headers={"ETag": shown.etag})
