"""The address book as a WebDAV collection: where it is, what its server can do, and the requests to the book itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from carddav.client import request_bodies
from carddav.client.errors import BookGoneError, BookMovedError, StatusError, UntrustedHostError
from carddav.client.hrefs import href_key
from carddav.client.multistatus import DAV, Multistatus, Response
from carddav.client.session import DavSession
from carddav.client.shapes import Capabilities, FoundBook
from contacts_project.kernel.texts import define_text

_NO_BOOK = define_text("no_book_any_more", "What is at the address of the book is no address book any more.")

GONE_STATUSES = {404, 410}
# 421 Misdirected Request: this host no longer serves the account (RFC 9110, section 15.5.20).
_BOOK_GONE_STATUSES = GONE_STATUSES | {421}
_VALID_SYNC_TOKEN = "valid-sync-token"  # noqa: S105 - RFC 6578, section 3.2


class Collection:
    """Requests to the book itself. `caps` may change during the requests; the caller stores them afterwards."""

    def __init__(self, session: DavSession, url: str, caps: Capabilities | None = None) -> None:
        self.session = session
        self.url = url if url.endswith("/") else f"{url}/"
        self.caps = caps or Capabilities()
        #: Keys that the last report listed as gone. If a multiget omits them, too, no further request is needed.
        self.reported_gone: set[str] = set()
        self._own_key = self.key(self.url).rstrip("/")

    def key(self, href: str) -> str:
        """The form of an href of this book by which it is compared."""
        return href_key(href, self.url)

    def fetch_properties(self) -> FoundBook:
        """Request the name and capabilities of the book. One request."""
        with self._multistatus("PROPFIND", request_bodies.PROPFIND_BOOK) as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    return replace(request_bodies.parse_book(self.session, self.url, response), url=self.url)
        raise BookGoneError

    def record_unsupported_report(self, report: str) -> None:
        """Do not request this report again: the server does not have it."""
        self.caps = replace(self.caps, refused=tuple(sorted({*self.caps.refused, report})))

    def retry_refused_reports(self) -> None:
        """Request refused reports again: the server may have been updated, or refused them by mistake."""
        self.caps = replace(self.caps, refused=())

    def _is_self(self, response: Response) -> bool:
        return self.key(response.href).rstrip("/") == self._own_key

    def _check_is_book(self, response: Response) -> None:
        if response.status in GONE_STATUSES:  # status of the book itself inside the 207
            raise BookGoneError(status=response.status)
        # Some servers do not return resourcetype: only a wrong one is an error.
        if f"{DAV}resourcetype" in response.props and not response.has_type(request_bodies.BOOK_TYPE):
            raise BookGoneError(_NO_BOOK)

    @contextmanager
    def _multistatus(self, method: str, body: str, depth: str = "0") -> Iterator[Multistatus]:
        """A request to the book itself: if the book is gone or has moved, that is an error of its own."""
        try:
            with self.session.multistatus(method, self.url, body, depth) as (url, responses):
                # The session has followed a redirect within the host: the stored URL is outdated.
                if self.key(url).rstrip("/") != self._own_key:
                    raise BookMovedError(url, status=301)
                yield responses
        except UntrustedHostError as error:
            if error.location:
                raise BookMovedError(error.location, status=error.status or 301) from error
            raise
        except StatusError as error:
            # With valid-sync-token the status refers to the token, not to the book.
            if error.status in _BOOK_GONE_STATUSES and _VALID_SYNC_TOKEN not in error.conditions:
                raise BookGoneError(status=error.status) from error
            raise
