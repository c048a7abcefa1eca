"""JSON with orjson: encoding, the text form of times, the limit of a document, the representation of a record.

orjson is strict on input (RFC 8259, no lone surrogates, bounded depth) and fast on output.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import orjson

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value of a document that was parsed and not yet validated."""
JsonObject: TypeAlias = dict[str, Any]
"""An object of JSON by the names of its members: validated data, or a response or a part of one before `dumps`.

The types of its members are those of its serializer. A response holds ids, times and texts, which `dumps` encodes.
"""
JsonMapping: TypeAlias = Mapping[str, Any]
"""A JsonObject that is only read."""

#: The limit of memory for a document that is parsed as a whole: twenty MiB of empty lists would take half a gigabyte.
MAX_DOCUMENT_VALUES = 2_000_000


def has_too_many_values(document: bytes) -> bool:
    """Whether JSON that is not parsed yet has more than MAX_DOCUMENT_VALUES values."""
    # Every value but the first follows one of these characters. Strings that contain them count, too.
    return sum(map(document.count, (b",", b"[", b"{"))) > MAX_DOCUMENT_VALUES


def camel_case(name: str) -> str:
    """The JSON name of a column: `phone_numbers` as `phoneNumbers`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def format_timestamp(timestamp: dt.datetime | None) -> str | None:
    """Format a time as the API contract requires it: UTC, milliseconds (cut off, not rounded), `Z`."""
    if timestamp is None:
        return None
    return timestamp.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_encodable(value: object) -> str | list[object] | None:
    """Convert a value whose type orjson does not encode by itself. Texts are written in the active language."""
    if isinstance(value, dt.datetime):
        return format_timestamp(value)
    return list(value) if isinstance(value, set | frozenset) else str(value)


def dumps(value: object) -> bytes:
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


class Representation(NamedTuple):
    """The body of a record as its GET returns it (a dictionary or an orjson.Fragment), and the revision of its row.
    `in_feed` is what the change feed sends of it, where that is less; `for_etag` what the ETag covers, where it is not
    the body.

    Read the revision together with the row, or before the rest of the body: then a body can be newer than its revision,
    but never older, and a client never keeps old data under a new ETag.
    """

    revision: int
    body: Any
    in_feed: Any = None
    for_etag: Any = None

    @property
    def etag(self) -> str:
        """A strong validator: the revision that changed the record last, and a digest of its JSON.

        The digest covers what the body repeats from other records, such as the names of groups. Those can change
        without a new revision of this record.
        """
        covered = self.body if self.for_etag is None else self.for_etag
        return f'"{self.revision:x}-{hashlib.blake2b(dumps(covered), digest_size=8).hexdigest()}"'
