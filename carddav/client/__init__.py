"""The CardDAV client: RFC 6352 and RFC 6578 as real servers implement them. Must not import models."""

from carddav.client.book import Book, locks_whole_book
from carddav.client.collection import same_etag
from carddav.client.discovery import Discovered, discover
from carddav.client.errors import (
    AccessDeniedError,
    BookGoneError,
    BookMovedError,
    BusyError,
    ConnectionBrokenError,
    ConnectionRejectedError,
    DavError,
    DnsError,
    LoginRefusedError,
    MalformedResponseError,
    NotCardDavError,
    OverdueError,
    PolicyError,
    ServerTimeoutError,
    StatusError,
    TlsError,
)
from carddav.client.hrefs import href_key, normalize_server_url
from carddav.client.login import Login
from carddav.client.session import DavSession, open_session
from carddav.client.shapes import (
    Capabilities,
    Card,
    Changes,
    Entry,
    Fetched,
    FoundBook,
    Missing,
    Outcome,
    Unreadable,
    WriteResult,
)

__all__ = [
    "AccessDeniedError",
    "Book",
    "BookGoneError",
    "BookMovedError",
    "BusyError",
    "Capabilities",
    "Card",
    "Changes",
    "ConnectionBrokenError",
    "ConnectionRejectedError",
    "DavError",
    "DavSession",
    "Discovered",
    "DnsError",
    "Entry",
    "Fetched",
    "FoundBook",
    "Login",
    "LoginRefusedError",
    "MalformedResponseError",
    "Missing",
    "NotCardDavError",
    "Outcome",
    "OverdueError",
    "PolicyError",
    "ServerTimeoutError",
    "StatusError",
    "TlsError",
    "Unreadable",
    "WriteResult",
    "discover",
    "href_key",
    "locks_whole_book",
    "normalize_server_url",
    "open_session",
    "same_etag",
]
