"""The XML of WebDAV (RFC 4918, 14): reads bodies without entities, and writes multistatus responses in pieces."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import quoteattr

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

DAV, CARD, CAL = "DAV:", "urn:ietf:params:xml:ns:carddav", "urn:ietf:params:xml:ns:caldav"
CALENDAR_SERVER, APPLE = "http://calendarserver.org/ns/", "http://apple.com/ns/ical/"
_PREFIXES = {DAV: "d", CARD: "card", CAL: "cal", CALENDAR_SERVER: "cs", APPLE: "ical"}
_DECLARATIONS = " ".join(f'xmlns:{prefix}="{namespace}"' for namespace, prefix in _PREFIXES.items())
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
CONTENT_TYPE = "application/xml; charset=utf-8"

# In characters; a response element is never divided.
_PIECE_LENGTH = 16 * 1024
MAX_XML_BYTES = 4 * 1024 * 1024

# One of these characters would make the whole answer unreadable for a client.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

# Clients compare these texts: no other spelling of the version or of the reason is understood everywhere.
OK, MISSING, FORBIDDEN = "HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 403 Forbidden"
FAILED = "HTTP/1.1 500 Internal Server Error"
INSUFFICIENT_STORAGE = "HTTP/1.1 507 Insufficient Storage"


class XmlError(ValueError):
    """The body is not well-formed XML, or has a document type."""


def dav(name: str) -> str:
    """The name of an element of DAV: in Clark notation, as ElementTree has it."""
    return f"{{{DAV}}}{name}"


def card(name: str) -> str:
    return f"{{{CARD}}}{name}"


def cal(name: str) -> str:
    return f"{{{CAL}}}{name}"


def cs(name: str) -> str:
    return f"{{{CALENDAR_SERVER}}}{name}"


def apple(name: str) -> str:
    return f"{{{APPLE}}}{name}"


def read_xml(body: bytes) -> Element | None:
    """The root element of a request body; None for an empty one. Raises XmlError."""
    if not body.strip():
        return None
    try:
        root: Element = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise XmlError(str(error)) from error
    return root


def text(value: object) -> str:
    """The value as XML text. A carriage return is a reference, which a parser does not drop (XML 1.0, 2.11)."""
    shown = _NOT_XML.sub("", str(value)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace("\r", "&#13;")


def path_text(path: str) -> str:
    """A percent-encoded path as XML text."""
    return path.replace("&", "&amp;")


def tag(name: str, content: str = "", attributes: Mapping[str, str] | None = None) -> str:
    """An element by its name in Clark notation. `content` is XML already."""
    namespace, _, local = name[1:].rpartition("}") if name.startswith("{") else ("", "", name)
    given = "".join(f" {key}={quoteattr(_NOT_XML.sub('', value))}" for key, value in (attributes or {}).items())
    prefix = _PREFIXES.get(namespace)
    if prefix is None:
        # A name from the request, in a namespace of the client's or in none.
        given = f" xmlns={quoteattr(_NOT_XML.sub('', namespace))}{given}"
    else:
        local = f"{prefix}:{local}"
    return f"<{local}{given}>{content}</{local}>" if content else f"<{local}{given}/>"


def href(path: str) -> str:
    """An href element; `path` is percent-encoded already."""
    return tag(dav("href"), text(path))


@dataclass
class Propstat:
    """The properties of one resource, each as an element (or only its empty name), by status. `errors`: the element of
    the precondition that failed, for a status."""

    by_status: dict[str, list[str]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    def add(self, status: str, element: str) -> None:
        self.by_status.setdefault(status, []).append(element)


def response(path: str, found: Propstat, *, is_minimal: bool = False) -> str:
    """The response element of a resource. A minimal one has no properties that are missing (RFC 8144, 2.1)."""
    shown = {status: elements for status, elements in found.by_status.items() if status != MISSING or not is_minimal}
    parts = [
        tag(dav("propstat"), tag(dav("prop"), "".join(elements)) + tag(dav("status"), status) + _error(found, status))
        for status, elements in (shown or {OK: []}).items()
    ]
    return tag(dav("response"), href(path) + "".join(parts))


def _error(found: Propstat, status: str) -> str:
    return tag(dav("error"), found.errors[status]) if status in found.errors else ""


def status_response(path: str, status: str, error: str = "") -> str:
    """The response element of a member that is not there, with the element of a precondition where one failed."""
    failed = tag(dav("error"), error) if error else ""
    return tag(dav("response"), href(path) + tag(dav("status"), status) + failed)


def multistatus(responses: Iterable[str], *, end: str = "") -> Iterator[bytes]:
    """The whole body in pieces; `end` is an element behind the responses, such as a sync-token."""
    parts, length = [f"{HEAD}<d:multistatus {_DECLARATIONS}>"], 0
    for element in responses:
        parts.append(element)
        length += len(element)
        # Each piece passes the middleware and the server by itself: short ones cost more there than here.
        if length >= _PIECE_LENGTH:
            yield "".join(parts).encode()
            parts, length = [], 0
    yield "".join([*parts, f"{end}</d:multistatus>"]).encode()


def document(name: str, content: str) -> bytes:
    """A body with one root element."""
    return f"{HEAD}{tag(name, content)}".replace(
        f"<{_prefixed(name)}", f"<{_prefixed(name)} {_DECLARATIONS}", 1
    ).encode()


def _prefixed(name: str) -> str:
    namespace, _, local = name[1:].rpartition("}")
    return f"{_PREFIXES[namespace]}:{local}"
