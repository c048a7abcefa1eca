"""Reads a 207 answer as it comes: one response at a time, no DTD, no entities (RFC 4918, sections 13 and 14)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from carddav.client.errors import MalformedAnswerError
from carddav.client.xml_text import clean_text

DAV, CARD, CALENDARSERVER = "{DAV:}", "{urn:ietf:params:xml:ns:carddav}", "{http://calendarserver.org/ns/}"
_STATUS = re.compile(r"HTTP/[0-9.]+\s+([0-9]{3})|\s*([0-9]{3})\b")
_DEEPEST = 50
# Of one response: elements and attributes, each of which takes a hundred times the memory that it takes in the answer.
_MOST_NODES = 10_000
# A single tag, and what is fed to the parser at once.
_LONGEST_TAG, _PIECE = 1024 * 1024, 64 * 1024


@dataclass(slots=True)
class Node:
    """An element: `tag` with its namespace in braces."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    def find(self, tag: str) -> "Node | None":
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> "list[Node]":
        return [child for child in self.children if child.tag == tag]

    def text_of(self, tag: str) -> str:
        """The text of the child, trimmed; empty without one."""
        child = self.find(tag)
        return child.text.strip() if child else ""

    @property
    def name(self) -> str:
        """The tag without its namespace."""
        return self.tag.rpartition("}")[2]


@dataclass(slots=True)
class Response:
    """What a 207 says of one resource: `props` are those it has, `status` the one of the whole, where there is one."""

    href: str
    status: int | None
    props: dict[str, Node]
    conditions: frozenset[str]

    def text_of(self, tag: str) -> str:
        return self.props[tag].text.strip() if tag in self.props else ""

    def has_type(self, tag: str) -> bool:
        types = self.props.get(f"{DAV}resourcetype")
        return types is not None and types.find(tag) is not None


@dataclass(slots=True)
class Multistatus:
    """A 207 answer under way: its responses, then its sync token."""

    chunks: Iterable[bytes]
    charset: str | None = None
    sync_token: str = ""

    def __iter__(self) -> Iterator[Response]:
        """Raises MalformedAnswerError for what is no whole multistatus."""
        target = _Target()
        parser = DefusedXMLParser(target=target, encoding="utf-8", forbid_dtd=True)
        try:
            for text in clean_text(self.chunks, self.charset):
                target.feed(parser, text.encode())
                yield from self._finished_responses(target)
            parser.close()
        except (ParseError, DefusedXmlException, ValueError) as error:
            raise MalformedAnswerError from error
        yield from self._finished_responses(target)
        if target.root != f"{DAV}multistatus":
            raise MalformedAnswerError

    def _finished_responses(self, target: "_Target") -> Iterator[Response]:
        done, target.done = target.done, []
        for node in done:
            if node.tag == f"{DAV}response":
                yield from _responses(node)
            elif node.tag == f"{DAV}sync-token":
                self.sync_token = node.text.strip()


class _Target:
    """Builds the children of the root, and forgets each once it is taken."""

    def __init__(self) -> None:
        self.stack: list[Node] = []
        self.texts: list[list[str]] = []
        self.done: list[Node] = []
        self.root = ""
        self.nodes = self.unheard = 0

    def feed(self, parser: Any, data: bytes) -> None:
        """Let the parser read. Raises ValueError where it is full of a tag that does not end."""
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self.unheard += len(piece)
            parser.feed(piece)
            if self.unheard > _LONGEST_TAG:
                raise ValueError("a tag without end")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.unheard = 0
        self.nodes += 1 + len(attributes)
        if len(self.stack) > _DEEPEST or self.nodes > _MOST_NODES:
            raise ValueError("too deep, or too much")
        if not self.stack:
            self.root = tag
        self.stack.append(Node(tag, attributes))
        self.texts.append([])

    def data(self, text: str) -> None:
        self.unheard = 0
        if len(self.stack) > 1:
            self.texts[-1].append(text)

    def end(self, tag: str) -> None:
        self.unheard = 0
        node = self.stack.pop()
        node.text = "".join(self.texts.pop())
        if len(self.stack) == 1:
            self.done.append(node)
            self.nodes = 0
        elif self.stack:
            self.stack[-1].children.append(node)

    def close(self) -> None:
        """Called by the parser at the end."""


def error_conditions(body: bytes) -> frozenset[str]:
    """The names in a DAV:error (RFC 4918, section 16), without their namespaces; none in anything else."""
    target = _Target()
    parser = DefusedXMLParser(target=target, encoding="utf-8", forbid_dtd=True)
    try:
        for text in clean_text([body]):
            target.feed(parser, text.encode())
        parser.close()
    except (ParseError, DefusedXmlException, ValueError):
        return frozenset()
    return _conditions(target.done) if target.root == f"{DAV}error" else frozenset()


def _responses(node: Node) -> Iterator[Response]:
    """One for each href: a status may be said of several at once (RFC 4918, section 14.24)."""
    props: dict[str, Node] = {}
    for propstat in node.all(f"{DAV}propstat"):
        holder = propstat.find(f"{DAV}prop")
        status = _status(propstat)
        if holder is not None and (status is None or 200 <= status < 300):
            props.update((child.tag, child) for child in holder.children)
    error = node.find(f"{DAV}error")
    conditions = _conditions(error.children) if error else frozenset()
    status = _status(node)
    for href in node.all(f"{DAV}href") or [Node(f"{DAV}href")]:
        yield Response(href.text.strip(), status, props, conditions)


def _conditions(nodes: Iterable[Node]) -> frozenset[str]:
    """Those of the standards: servers add what they like, such as the name of an exception."""
    return frozenset(node.name for node in nodes if node.tag.startswith((DAV, CARD)))


def _status(node: Node) -> int | None:
    match = _STATUS.match(node.text_of(f"{DAV}status"))
    return int(match[1] or match[2]) if match else None
