"""JSON in and out by orjson: strict input (RFC 8259, no lone surrogates, bounded depth), fast output. How ids and
moments are spelled in it, and the record of an answer with its ETag."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, NamedTuple
from uuid import UUID

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList


def parse_id(text: object) -> UUID | None:
    """Return the id that `text` spells, None when it spells none."""
    if not isinstance(text, str):
        return None
    try:
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None


def format_id(key: str) -> str:
    """The id of an IdHex, with its hyphens. For SQLite this takes half of what IdText does."""
    return f"{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}"


def format_timestamp(moment: dt.datetime | None) -> str | None:
    """Format a moment as the contract wants it: UTC, milliseconds, `Z`."""
    if moment is None:
        return None
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _encode_other(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return format_timestamp(value)
    if isinstance(value, ReturnDict):
        return dict(value)
    if isinstance(value, ReturnList | tuple | set | frozenset):
        return list(value)
    return str(value)


def dumps(value: Any) -> bytes:
    """Encode to JSON; datetimes as `format_timestamp` does, ids and lazy texts as text."""
    return orjson.dumps(value, _encode_other, orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS)


dumps_ascii = json.JSONEncoder(separators=(",", ":")).encode
"""JSON as text of ASCII alone: for pieces of a long text, which one wide character makes slow to join and encode."""


# Entries in a piece of a streamed answer.
_CHUNK = 25


def stream_list(name: str, entries: Iterable[bytes]) -> Iterator[bytes]:
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


class SingleMediaType(DefaultContentNegotiation):
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


class Representation(NamedTuple):
    """A record as its GET shows it (a dictionary, or JSON as orjson.Fragment), and the revision of its row.

    The revision is read with the row or before the rest, so that a body may be newer than its number, never older.
    """

    revision: int
    body: Any

    @property
    def etag(self) -> str:
        """A strong validator: the revision that the record was changed by last, and a digest of its JSON.

        The digest is there for what the answer repeats of other records, such as the names of groups: they change the
        representation, and leave the record's own revision as it is.
        """
        return f'"{self.revision:x}-{hashlib.blake2b(dumps(self.body), digest_size=8).hexdigest()}"'


def record_answer(name: str, shown: Representation, status: int = 200) -> Response:
    """`{ name: record }` with the record's ETag."""
    return Response({name: shown.body}, status=status, headers={"ETag": shown.etag})
