"""Splits a stream of bytes into cards, with at most one card in memory.

Runs in linear time whatever the input: a card that is too large is discarded while it is read, and a BEGIN that is not
inside an AGENT ends the card before it, so that nothing is read twice.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

MAX_CARD_BYTES = 10 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
# Of cards that are nested in AGENT properties.
_MAX_DEPTH = 4

MISSING_END = "the card has no END line and may be cut off"
TOO_LARGE = f"the card is larger than {MAX_CARD_BYTES // (1024 * 1024)} MiB"
OUTSIDE_CARD = "text that belongs to no card (a BEGIN:VCARD line is missing)"


class Readable(Protocol):
    """A binary file. `read` returns the next bytes, and empty bytes at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(slots=True)
class RawCard:
    """The bytes of one card from BEGIN to END. With an `error` the card cannot be read; with a `warning` it can."""

    data: bytes = b""
    error: str | None = None
    warning: str | None = None


@dataclass(slots=True)
class _State:
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    depth: int = 0
    has_content: bool = False
    after_agent: bool = False
    reported_stray: bool = False

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > MAX_CARD_BYTES:
            self.parts.clear()
        else:
            self.parts.append(piece)

    def begin(self, piece: bytes) -> None:
        self.parts.clear()
        self.size, self.depth, self.has_content, self.after_agent, self.reported_stray = 0, 1, False, False, False
        self.add(piece)

    def finish(self, warning: str | None = None) -> RawCard:
        self.depth = 0
        if self.size > MAX_CARD_BYTES:
            return RawCard(error=TOO_LARGE)
        return RawCard(data=b"".join(self.parts), warning=warning)


def split_cards(stream: Readable) -> Iterator[RawCard]:
    """Yield the cards of a file in order. A run of properties outside any card yields one error."""
    state = _State()
    for piece, starts_line in _split_lines(_transcode_to_utf8(stream)):
        marker = _marker_line(piece) if starts_line else b""
        if marker == b"BEGIN:VCARD":
            yield from _handle_begin(state, piece)
        elif state.depth == 0:
            # Only what looks like a property: blank lines and comments between cards are no error.
            if marker != b"END:VCARD" and b":" in piece and not state.reported_stray:
                state.reported_stray = True
                yield RawCard(error=OUTSIDE_CARD)
        elif marker == b"END:VCARD":
            state.add(piece)
            state.depth -= 1
            if state.depth == 0:
                yield state.finish()
        else:
            _handle_content(state, piece, marker)
    if state.depth and state.has_content:
        yield state.finish(MISSING_END)


def _handle_begin(state: _State, piece: bytes) -> Iterator[RawCard]:
    if state.depth and state.after_agent and state.depth < _MAX_DEPTH:
        state.depth += 1
        state.after_agent = False
        state.add(piece)
        return
    if state.depth and state.has_content:
        yield state.finish(MISSING_END)
    state.begin(piece)


def _handle_content(state: _State, piece: bytes, marker: bytes) -> None:
    state.add(piece)
    if marker:
        state.has_content = True
        state.after_agent = marker.startswith(b"AGENT") and marker.endswith(b":")
    elif piece.strip():
        state.has_content, state.after_agent = True, False


def _marker_line(piece: bytes) -> bytes:
    """The line in upper case without spaces if it may be BEGIN, END or AGENT; else empty.

    A line that starts with white space is a fold of the line before and never one of these.
    """
    if len(piece) > 80 or piece[:1] not in b"BbEeAa":
        return b""
    return piece.strip().replace(b" ", b"").upper()


def _split_lines(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield lines with their ends, and whether each starts a line: one longer than a chunk is yielded in pieces."""
    carry = b""
    starts_line = True
    for chunk in chunks:
        for piece in (carry + chunk).splitlines(keepends=True):
            carry = b""
            ended = piece.endswith((b"\n", b"\r"))
            if not ended and len(piece) < _CHUNK_BYTES:
                carry = piece
                continue
            yield piece, starts_line
            starts_line = ended
    if carry:
        yield carry, starts_line


def _transcode_to_utf8(stream: Readable) -> Iterator[bytes]:
    """Yield chunks without byte order mark. UTF-16, recognised by its mark or its NUL bytes, is transcoded to UTF-8."""
    first = stream.read(_CHUNK_BYTES)
    first = first.removeprefix(codecs.BOM_UTF8)
    encoding = _detect_utf16(first)
    if encoding is None:
        yield first
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first).lstrip("\ufeff").encode()
    while chunk := stream.read(_CHUNK_BYTES):
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _detect_utf16(start: bytes) -> str | None:
    if start.startswith(codecs.BOM_UTF16_LE) or start[:4].upper() == b"B\0E\0":
        return "utf-16-le"
    if start.startswith(codecs.BOM_UTF16_BE) or start[:4].upper() == b"\0B\0E":
        return "utf-16-be"
    return None
