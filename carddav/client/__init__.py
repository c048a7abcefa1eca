"""The CardDAV client: RFC 6352 and 6578 as servers really speak them. No models in here."""

from carddav.client.book import Book, locks_whole_book
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
    MalformedAnswerError,
    NotCardDavError,
    PolicyError,
    ServerTimeoutError,
    StatusError,
    TlsError,
)
from carddav.client.etags import same_etag
from carddav.client.hrefs import href_key, server_url_of
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
    Written,
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
    "MalformedAnswerError",
    "Missing",
    "NotCardDavError",
    "Outcome",
    "PolicyError",
    "ServerTimeoutError",
    "StatusError",
    "TlsError",
    "Unreadable",
    "Written",
    "discover",
    "href_key",
    "locks_whole_book",
    "open_session",
    "same_etag",
    "server_url_of",
]
