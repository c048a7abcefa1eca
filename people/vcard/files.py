"""Reads files of vCards. Each card has its own result, so that a card that cannot be read does not stop the others.

The stream is split with at most one card in memory, in linear time whatever the input: a card that is too large is
discarded while it is read, and a BEGIN that is not inside an AGENT ends the card before it, so that nothing is read
twice.
"""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from contacts_project.kernel.charsets import decode_or_guess, join_surrogates
from contacts_project.kernel.texts import Text, define_text
from people.vcard.card import Card, CardResult, VCardError
from people.vcard.content_lines import parse_line
from people.vcard.parser import CHARSET_GUESSED, read_card

MAX_CARD_BYTES = 10 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
# Of cards that are nested in AGENT properties.
_MAX_DEPTH = 4

MISSING_END = define_text("card_without_end", "the card has no END line and may be cut off")
TOO_LARGE = define_text("card_too_large", "the card is larger than %(limit)s MiB").format(
    limit=MAX_CARD_BYTES // (1024 * 1024)
)
OUTSIDE_CARD = define_text("outside_card", "text that belongs to no card (a BEGIN:VCARD line is missing)")
_SEVERAL_CARDS = define_text(
    "several_cards_in_resource", "the file there holds %(number)s cards; a server keeps one card in each"
)
_BEGIN = re.compile(r"^BEGIN\s*:\s*VCARD", re.IGNORECASE | re.MULTILINE)


class Readable(Protocol):
    """A binary file. `read` returns the next bytes, and empty bytes at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(slots=True)
class RawCard:
    """The bytes of one card from BEGIN to END. With an `error` the card cannot be read; with a `warning` it can."""

    data: bytes = b""
    error: Text | None = None
    warning: Text | None = None


@dataclass(slots=True)
class _SplitState:
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

    def finish(self, warning: Text | None = None) -> RawCard:
        self.depth = 0
        if self.size > MAX_CARD_BYTES:
            return RawCard(error=TOO_LARGE)
        return RawCard(data=b"".join(self.parts), warning=warning)


def split_cards(stream: Readable) -> Iterator[RawCard]:
    """Yield the cards of a file in order. A run of properties outside any card yields one error."""
    state = _SplitState()
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


def _handle_begin(state: _SplitState, piece: bytes) -> Iterator[RawCard]:
    if state.depth and state.after_agent and state.depth < _MAX_DEPTH:
        state.depth += 1
        state.after_agent = False
        state.add(piece)
        return
    if state.depth and state.has_content:
        yield state.finish(MISSING_END)
    state.begin(piece)


def _handle_content(state: _SplitState, piece: bytes, marker: bytes) -> None:
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


def read_cards(source: Readable | bytes | str, *, charset: str | None = None) -> Iterator[CardResult]:
    """Yield the result for each card of a file in order. Keeps one card in memory at a time.

    `charset` applies to lines that are not UTF-8 and have no CHARSET parameter.
    """
    if isinstance(source, str):
        source = join_surrogates(source).encode()
    stream: Readable = io.BytesIO(source) if isinstance(source, bytes) else source
    for index, raw in enumerate(split_cards(stream)):
        yield _read_raw_card(index, raw, charset)


def read_resource(text: str) -> tuple[Card, tuple[Text, ...]]:
    """Parse the card of a CardDAV resource, like `read_card`.

    Raises VCardError also for several cards (RFC 6352, 5.1): read as one, they would become a mixed person.
    """
    if len(_BEGIN.findall(text)) > 1:  # of 2.1, a card may hold others in AGENT properties
        number = sum(1 for raw in split_cards(io.BytesIO(join_surrogates(text).encode())) if raw.data)
        if number > 1:
            raise VCardError(_SEVERAL_CARDS.format(number=number))
    return read_card(text)


def _read_raw_card(index: int, raw: RawCard, charset: str | None) -> CardResult:
    if raw.error:
        return CardResult(index=index, name="", error=raw.error)
    text, is_guessed = decode_or_guess(raw.data, charset)
    try:
        card, warnings = read_card(text)
    except VCardError as error:
        return CardResult(index=index, name=_name_hint(text), error=error.text, text=text)
    if is_guessed and CHARSET_GUESSED not in warnings:
        warnings = (CHARSET_GUESSED, *warnings)
    if raw.warning:
        warnings = (raw.warning, *warnings)
    return CardResult(index=index, name=card.full_name, card=card, warnings=warnings, text=text)


def _name_hint(text: str) -> str:
    """The FN of a card that cannot be parsed, as written, if it is among the first lines; else an empty string."""
    for line in text[:4096].splitlines():
        found = parse_line(line)
        if found.name == "FN":
            return found.value.strip()[:100]
    return ""
