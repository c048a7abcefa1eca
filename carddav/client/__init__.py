"""The CardDAV client: RFC 6352 and RFC 6578 as real servers implement them. Must not import models."""

from carddav.client.book import AddressBook, locks_whole_book
from carddav.client.collection import same_etag
from carddav.client.discovery import Discovery, discover
from carddav.client.errors import (
    AccessDeniedError,
    BookGoneError,
    BookMovedError,
    CardDavError,
    ConnectionBrokenError,
    ConnectionRejectedError,
    DnsError,
    LoginRefusedError,
    MalformedResponseError,
    NotCardDavError,
    OverdueError,
    PolicyError,
    ServerBusyError,
    ServerTimeoutError,
    StatusError,
    TlsError,
)
from carddav.client.hrefs import href_key, normalize_server_url
from carddav.client.login import Login
from carddav.client.session import DavSession, open_session
from carddav.client.shapes import (
    Capabilities,
    FetchResult,
    FoundBook,
    Listing,
    ListingEntry,
    Missing,
    RemoteCard,
    Unreadable,
    WriteOutcome,
    WriteResult,
)

__all__ = [
    "AccessDeniedError",
    "AddressBook",
    "BookGoneError",
    "BookMovedError",
    "Capabilities",
    "CardDavError",
    "ConnectionBrokenError",
    "ConnectionRejectedError",
    "DavSession",
    "Discovery",
    "DnsError",
    "FetchResult",
    "FoundBook",
    "Listing",
    "ListingEntry",
    "Login",
    "LoginRefusedError",
    "MalformedResponseError",
    "Missing",
    "NotCardDavError",
    "OverdueError",
    "PolicyError",
    "RemoteCard",
    "ServerBusyError",
    "ServerTimeoutError",
    "StatusError",
    "TlsError",
    "Unreadable",
    "WriteOutcome",
    "WriteResult",
    "discover",
    "href_key",
    "locks_whole_book",
    "normalize_server_url",
    "open_session",
    "same_etag",
]
