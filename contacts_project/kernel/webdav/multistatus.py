"""Parses a 207 response as a stream, one DAV:response at a time, without DTD and entities (RFC 4918, sections 13 and
14)."""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from contacts_project.kernel.charsets import allowed_charset, decode_value
from contacts_project.kernel.webdav.errors import MalformedResponseError

DAV, CARD, CALENDARSERVER = "{DAV:}", "{urn:ietf:params:xml:ns:carddav}", "{http://calendarserver.org/ns/}"
_STATUS = re.compile(r"HTTP/[0-9.]+\s+([0-9]{3})|\s*([0-9]{3})\b")
_MAX_DEPTH = 50
# Elements and attributes of one DAV:response: each takes about a hundred times its size in memory.
_MAX_NODES = 10_000
# A longer tag is refused; the parser is fed in pieces of the second size, so that this is noticed in time.
_MAX_TAG_BYTES, _FEED_BYTES = 1024 * 1024, 64 * 1024

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCES = re.compile(r"(?:&#(?:x[0-9A-Fa-f]{1,8}|[0-9]{1,10});)+")
_REFERENCE = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_TEXT_WITH_CR = re.compile(r">([^<]*[^<\s][^<]*)")
_DECLARED_ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# A character split by line folding, whose line break may be a reference.
_SPLIT_CHARACTER = re.compile(rb"([\xc2-\xf4][\x80-\xbf]{0,2})((?:\r|&#13;|&#x0*[dD];)?\n[ \t])([\x80-\xbf]{1,3})")
_REPAIR_HANDLER = "webdav-repair"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(slots=True)
class XmlElement:
    """An XML element; `tag` has its namespace in braces."""

    tag: str
    text: str = ""
    children: list["XmlElement"] = field(default_factory=list)
    attributes: Mapping[str, str] = field(default_factory=dict)

    def find(self, tag: str) -> "XmlElement | None":
        return next((child for child in self.children if child.tag == tag), None)

    def find_all(self, tag: str) -> "list[XmlElement]":
        return [child for child in self.children if child.tag == tag]

    def text_of(self, tag: str) -> str:
        """The stripped text of the child; empty if there is none."""
        child = self.find(tag)
        return child.text.strip() if child else ""

    @property
    def name(self) -> str:
        """The tag without its namespace."""
        return self.tag.rpartition("}")[2]


@dataclass(slots=True)
class Response:
    """One DAV:response: `props` are the properties that the resource has, `status` is the resource's own status, if
    any."""

    href: str
    status: int | None
    props: dict[str, XmlElement]
    conditions: frozenset[str]

    def text_of(self, tag: str) -> str:
        return self.props[tag].text.strip() if tag in self.props else ""

    def has_type(self, tag: str) -> bool:
        types = self.props.get(f"{DAV}resourcetype")
        return types is not None and types.find(tag) is not None


@dataclass(slots=True)
class Multistatus:
    """A 207 response that is being read: iterates over its responses, then has the sync token."""

    chunks: Iterable[bytes]
    charset: str | None = None
    sync_token: str = ""

    def __iter__(self) -> Iterator[Response]:
        """Raises MalformedResponseError if it is no complete multistatus."""
        target = _TreeBuilder()
        parser = DefusedXMLParser(target=target, encoding="utf-8", forbid_dtd=True)
        try:
            for text in clean_text(self.chunks, self.charset):
                target.feed(parser, text.encode())
                yield from self._finished_responses(target)
            parser.close()
        except (ParseError, DefusedXmlException, ValueError) as error:
            raise MalformedResponseError from error
        yield from self._finished_responses(target)
        if target.root != f"{DAV}multistatus":
            raise MalformedResponseError

    def _finished_responses(self, target: "_TreeBuilder") -> Iterator[Response]:
        done, target.finished = target.finished, []
        for node in done:
            if node.tag == f"{DAV}response":
                yield from _parse_response(node)
            elif node.tag == f"{DAV}sync-token":
                self.sync_token = node.text.strip()


class _TreeBuilder:
    """Builds the children of the root element; each is dropped once it was taken."""

    def __init__(self) -> None:
        self.stack: list[XmlElement] = []
        self.texts: list[list[str]] = []
        self.finished: list[XmlElement] = []
        self.root = ""
        self.nodes = self.bytes_since_event = 0

    def feed(self, parser: Any, data: bytes) -> None:
        """Feed the parser. Raises ValueError for a tag that does not end."""
        for start in range(0, len(data), _FEED_BYTES):
            piece = data[start : start + _FEED_BYTES]
            self.bytes_since_event += len(piece)
            parser.feed(piece)
            if self.bytes_since_event > _MAX_TAG_BYTES:
                raise ValueError("a tag without end")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.bytes_since_event = 0
        self.nodes += 1 + len(attributes)
        if len(self.stack) > _MAX_DEPTH or self.nodes > _MAX_NODES:
            raise ValueError("too deep, or too much")
        if not self.stack:
            self.root = tag
        self.stack.append(XmlElement(tag, attributes=dict(attributes) if attributes else {}))
        self.texts.append([])

    def data(self, text: str) -> None:
        self.bytes_since_event = 0
        if len(self.stack) > 1:
            self.texts[-1].append(text)

    def end(self, tag: str) -> None:
        self.bytes_since_event = 0
        node = self.stack.pop()
        node.text = "".join(self.texts.pop())
        if len(self.stack) == 1:
            self.finished.append(node)
            # Counted per response: only responses that are not taken yet use memory.
            self.nodes = 0
        elif self.stack:
            self.stack[-1].children.append(node)

    def close(self) -> None:
        """The parser calls this at the end of the document."""


def error_conditions(body: bytes) -> frozenset[str]:
    """The names in a DAV:error without their namespaces (RFC 4918, section 16); empty for any other body."""
    target = _TreeBuilder()
    parser = DefusedXMLParser(target=target, encoding="utf-8", forbid_dtd=True)
    try:
        for text in clean_text([body]):
            target.feed(parser, text.encode())
        parser.close()
    except (ParseError, DefusedXmlException, ValueError):
        return frozenset()
    return _parse_conditions(target.finished) if target.root == f"{DAV}error" else frozenset()


def _parse_response(node: XmlElement) -> Iterator[Response]:
    """One Response for each href: a status may apply to several at once (RFC 4918, section 14.24)."""
    props: dict[str, XmlElement] = {}
    for propstat in node.find_all(f"{DAV}propstat"):
        holder = propstat.find(f"{DAV}prop")
        status = _parse_status(propstat)
        if holder is not None and (status is None or 200 <= status < 300):
            props.update((child.tag, child) for child in holder.children)
    error = node.find(f"{DAV}error")
    conditions = _parse_conditions(error.children) if error else frozenset()
    status = _parse_status(node)
    for href in node.find_all(f"{DAV}href") or [XmlElement(f"{DAV}href")]:
        yield Response(href.text.strip(), status, props, conditions)


def _parse_conditions(nodes: Iterable[XmlElement]) -> frozenset[str]:
    """The standard ones only: servers add their own, such as the name of an exception."""
    return frozenset(node.name for node in nodes if node.tag.startswith((DAV, CARD)))


def _parse_status(node: XmlElement) -> int | None:
    match = _STATUS.match(node.text_of(f"{DAV}status"))
    return int(match[1] or match[2]) if match else None


def clean_text(chunks: Iterable[bytes], charset: str | None = None) -> Iterator[str]:
    """The text for the parser, in pieces that end before a tag. `charset` is the one of Content-Type.

    Cards contain control characters and halves of surrogate pairs, literally or as references. Characters that XML does
    not allow are removed, and two references to one surrogate pair are joined. Carriage returns, which a parser would
    drop, become references, so that a card arrives byte for byte. CDATA sections are converted to escaped text first,
    since what looks like a tag or a reference in them is neither. Invalid UTF-8 is a character that was folded in its
    middle, or Windows-1252: a replacement character would be written over the card with its next edit.
    """
    held: list[str] = []
    for text in _escape_cdata(_decode(chunks, charset)):
        head, tag, rest = text.rpartition("<")
        if tag:
            yield _clean("".join([*held, head]))
            held = [tag + rest]
        else:
            held.append(text)
    yield _clean("".join(held))


def _decode(chunks: Iterable[bytes], charset: str | None) -> Iterator[str]:
    decoder: codecs.IncrementalDecoder | None = None
    for chunk in chunks:
        if decoder is None:
            name, skipped = _detect_encoding(chunk, charset)
            decoder = codecs.getincrementaldecoder(name)(_REPAIR_HANDLER if name == "utf-8" else "replace")
            yield decoder.decode(chunk[skipped:])
        else:
            yield decoder.decode(chunk)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def _repair_bytes(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: the replacement for invalid UTF-8, and the position at which decoding continues."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if divided := _SPLIT_CHARACTER.match(error.object, error.start):
        with suppress(UnicodeDecodeError):
            return (divided[1] + divided[3]).decode() + divided[2].decode(), divided.end()
    return decode_value(error.object[error.start : error.end], None), error.end


codecs.register_error(_REPAIR_HANDLER, _repair_bytes)


def _escape_cdata(texts: Iterable[str]) -> Iterator[str]:
    """The text with each CDATA section as escaped text; sections and their markers may span several pieces."""
    held, mark, other_mark = "", _CDATA, _CDATA_END
    for text in texts:
        held += text
        while mark in held:
            head, _, held = held.partition(mark)
            yield escape(head) if mark == _CDATA_END else head
            mark, other_mark = other_mark, mark
        # A possible beginning of the marker is kept until the rest arrives.
        kept = next(length for length in range(len(mark) - 1, -1, -1) if held.endswith(mark[:length]))
        head, held = held[: len(held) - kept], held[len(held) - kept :]
        yield escape(head) if mark == _CDATA_END else head
    yield held


def _detect_encoding(first: bytes, charset: str | None) -> tuple[str, int]:
    """The encoding, and the length of the byte order mark."""
    for mark, name in _BOMS:
        if first.startswith(mark):
            return (name, len(mark)) if name == "utf-8" else (name, 0)
    declared = _DECLARED_ENCODING.match(first[:200].lstrip())
    return charset or allowed_charset(declared[1].decode() if declared else None) or "utf-8", 0


def _clean(text: str) -> str:
    if "&#" in text:
        text = _REFERENCES.sub(_join_references, text)
    text = _NOT_XML.sub("", text)
    if "\r" in text:
        # White space between tags stays as it is: references are not allowed before the root element.
        text = _TEXT_WITH_CR.sub(lambda match: match[0].replace("\r", "&#13;"), text)
    return text


def _join_references(match: re.Match[str]) -> str:
    """References in a row: valid ones unchanged, halves of a pair joined, all others removed."""
    numbers = [
        int(hexadecimal or "0", 16) or int(decimal or 0) for hexadecimal, decimal in _REFERENCE.findall(match[0])
    ]
    if all(_is_xml_character(number) for number in numbers):
        return match[0]
    units = "".join(chr(number) for number in numbers if number < 0x110000)
    joined = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return "".join(f"&#{ord(character)};" for character in joined if _is_xml_character(ord(character)))


def _is_xml_character(number: int) -> bool:
    return (
        number in {0x9, 0xA, 0xD}
        or 0x20 <= number < 0xD800
        or 0xE000 <= number < 0xFFFE
        or 0x10000 <= number < 0x110000
    )
