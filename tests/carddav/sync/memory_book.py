"""An address book in memory that can behave oddly and fail, as real servers do."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from carddav.client.address_books import ADDRESS_BOOKS
from carddav.client.book import AddressBook, WriteOutcome, WriteResult
from contacts_project.kernel.texts import Text
from contacts_project.kernel.webdav.errors import CollectionGoneError, ConnectionBrokenError
from contacts_project.kernel.webdav.etags import same_etag
from contacts_project.kernel.webdav.hrefs import href_key
from contacts_project.kernel.webdav.shapes import (
    Capabilities,
    FetchResult,
    FoundCollection,
    Listing,
    ListingEntry,
    Missing,
    Resource,
    Unreadable,
)

BOOK_URL = "http://127.0.0.1:1/ada/book/"


class Killed(BaseException):
    """Ends the run between two requests, as a kill of the process would."""


@dataclass
class StoredCard:
    """A card of the server; `at` is the value of `MemoryServer.now` at its last change."""

    text: str
    etag: str
    at: int


@dataclass
class MemoryServer:
    """One address book.

    `normalize` changes each card that is stored; `faults` maps the number of a request to its fault; `gone` maps
    removed hrefs to the time of the removal, as `now` counts it; the flags are oddities of servers.
    """

    cards: dict[str, StoredCard] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    now: int = 0
    normalize: Callable[[str], str] = lambda text: text
    has_sync: bool = True
    returns_etag: bool = True
    checks_conditions: bool = True
    is_gone: bool = False
    rejects_sync_tokens: bool = False
    refuses: Callable[[str], WriteOutcome | None] = lambda text: None
    unreadable: set[str] = field(default_factory=set)
    faults: dict[int, str] = field(default_factory=dict)
    on_request: Callable[[str], None] = lambda what: None
    requests: list[str] = field(default_factory=list)
    delayed_puts: list[tuple[str, str]] = field(default_factory=list)

    def deliver_delayed_puts(self) -> None:
        """Store the cards whose PUT was under way when its client was killed, unless the name is taken by now."""
        for href, text in self.delayed_puts:
            if href not in self.cards:
                self.edit(href, self.normalize(text))
        self.delayed_puts = []

    def edit(self, name: str, text: str) -> str:
        """Store a card as another client; returns its href."""
        href = name if name.startswith("/") else f"/ada/book/{name}"
        self.now += 1
        self.cards[href] = StoredCard(text, f'"{self.now}"', self.now)
        self.gone.pop(href, None)
        return href

    def remove(self, href: str) -> None:
        """Delete a card as another client."""
        self.now += 1
        del self.cards[href]
        self.gone[href] = self.now


class MemoryBook(AddressBook):
    """A book of a MemoryServer."""

    url = BOOK_URL
    caps = Capabilities()

    def __init__(self, server: MemoryServer) -> None:
        self.server = server

    def _request(self, what: str) -> str | None:
        """Record the request and raise a fault that comes before it; returns a fault that comes after it."""
        server = self.server
        server.requests.append(what)
        server.on_request(what)
        fault = server.faults.pop(len(server.requests), None)
        if fault == "kill_before":
            raise Killed
        if fault == "lose_before":
            raise ConnectionBrokenError
        if server.is_gone:
            raise CollectionGoneError(ADDRESS_BOOKS.gone)
        return fault

    def _after(self, fault: str | None) -> None:
        if fault == "kill_after":
            raise Killed
        if fault == "lose_after":
            raise ConnectionBrokenError

    def retry_refused_reports(self) -> None:
        """Do nothing: the reports of this book never change."""

    def fetch_properties(self) -> FoundCollection:
        self._request("look")
        return FoundCollection(self.url, "Book", self.caps)

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Listing:
        fault = self._request("changes")
        server = self.server
        since = int(token) if token and not server.rejects_sync_tokens else -1
        if not server.has_sync:
            if ctag == str(server.now):
                return Listing(ctag=ctag, is_unchanged=True)
            self._after(fault)
            if ctag and not is_small:  # else the first request has returned the listing
                server.requests.append("list")
            return self._listing()
        changed = tuple(
            ListingEntry(href, href_key(href), card.etag) for href, card in server.cards.items() if card.at > since
        )
        removed = tuple(ListingEntry(href, href_key(href)) for href, at in server.gone.items() if at > since >= 0)
        self._after(fault)
        is_full = not token
        unchanged = not is_full and not changed and not removed
        return Listing(changed, removed, token=str(server.now), is_full=is_full, is_unchanged=unchanged)

    def list(self) -> Listing:
        self._after(self._request("list"))
        return self._listing()

    def _listing(self) -> Listing:
        server = self.server
        entries = tuple(ListingEntry(href, href_key(href), card.etag) for href, card in server.cards.items())
        return Listing(entries, ctag="" if server.has_sync else str(server.now), is_full=True)

    def fetch(self, hrefs: Iterable[str]) -> Iterator[FetchResult]:
        requested = list(hrefs)
        for start in range(0, len(requested), 50):
            batch = requested[start : start + 50]
            fault = self._request(f"multiget {len(batch)}")
            for href in batch:
                yield self._found(href)
            self._after(fault)

    def _found(self, href: str) -> FetchResult:
        card = self.server.cards.get(href)
        if card is None:
            return Missing(href, href_key(href))
        if href in self.server.unreadable:
            return Unreadable(href, href_key(href), 500, Text("failed", "the server failed"))
        return Resource(href, href_key(href), card.etag, card.text)

    def get(self, href: str) -> Resource | Missing:
        self._after(self._request(f"get {href}"))
        found = self._found(href)
        assert not isinstance(found, Unreadable)
        return found

    def new_href(self, name: str) -> str:
        return f"/ada/book/{name}"

    def create(self, name: str, text: str) -> WriteResult:
        return self._put(self.new_href(name), text, None, is_new=True)

    def put(self, href: str, text: str, if_match: str) -> WriteResult:
        return self._put(href, text, if_match, is_new=False)

    def _put(self, href: str, text: str, if_match: str | None, *, is_new: bool) -> WriteResult:
        fault = self._request(f"put {href}")
        server = self.server
        there = server.cards.get(href)
        if fault == "kill_sent":
            server.delayed_puts.append((href, text))
            raise Killed
        if (refused := server.refuses(text)) is not None:
            status = 500 if refused is WriteOutcome.UNKNOWN else 400
            return WriteResult(refused, href, status=status, message=Text("unwanted", "The server does not want it."))
        if server.checks_conditions and is_new and there is not None:
            return WriteResult(WriteOutcome.CHANGED, href, status=412)
        if not is_new and there is None:
            return WriteResult(WriteOutcome.GONE, href, status=404)
        is_same = if_match == "*" or same_etag(there.etag if there else None, if_match)
        if server.checks_conditions and there is not None and not is_same:
            return WriteResult(WriteOutcome.CHANGED, href, status=412)
        server.edit(href, server.normalize(text))
        if fault == "kill_after":
            raise Killed
        if fault == "lose_after":
            return WriteResult(WriteOutcome.UNKNOWN, href)
        return WriteResult(
            WriteOutcome.DONE, href, server.cards[href].etag if server.returns_etag else None, status=201
        )

    def delete(self, href: str, if_match: str | None) -> WriteResult:
        fault = self._request(f"delete {href}")
        there = self.server.cards.get(href)
        if there is None:
            return WriteResult(WriteOutcome.GONE, href, status=404)
        if self.server.checks_conditions and not same_etag(there.etag, if_match):
            return WriteResult(WriteOutcome.CHANGED, href, status=412)
        self.server.remove(href)
        if fault == "kill_after":
            raise Killed
        if fault == "lose_after":
            return WriteResult(WriteOutcome.UNKNOWN, href)
        return WriteResult(WriteOutcome.DONE, href, status=204)
