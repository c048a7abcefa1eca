"""One address book on a server, as the sync sees it: every oddity of servers ends here."""

import re
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import replace

from carddav.client import requests
from carddav.client.conditional_writes import delete, put
from carddav.client.errors import (
    AccessDeniedError,
    BookGoneError,
    BookMovedError,
    ElsewhereError,
    MalformedAnswerError,
    NotCardDavError,
    StatusError,
)
from carddav.client.etags import read_etag
from carddav.client.hrefs import LONGEST_URL, href_key, member_path
from carddav.client.multiget import NO_REPORT, fetch, get_card
from carddav.client.multistatus import CALENDARSERVER, DAV, Multistatus, Response
from carddav.client.session import LISTING_SECONDS, READ_SECONDS, DavSession
from carddav.client.shapes import Capabilities, Card, Changes, Entry, Fetched, FoundBook, Missing, Unreadable, Written

_GONE = {404, 410}
# 421: this host does not know the account any more (RFC 9110, section 15.5.20).
_BOOK_GONE = _GONE | {421}
_TOKEN_REFUSED = "valid-sync-token"  # noqa: S105 - RFC 6578, section 3.2
_MOST_PAGES = 10_000
_MOST_CARDS = 100_000
# What may be listed beside cards: a folder, a page, somebody's calendar.
_NO_CARDS = ("text/html", "text/calendar", "httpd/", "image/")


class Book:
    """Requests to one book. `caps` may learn something new: whoever stores them stores them after the run.

    Everything raises DavError; BookGoneError where the book itself is not there any more.
    """

    def __init__(self, session: DavSession, url: str, caps: Capabilities | None = None) -> None:
        self.session = session
        self.url = url if url.endswith("/") else f"{url}/"
        self.caps = caps or Capabilities()
        #: Keys that the server has called gone: where a multiget passes over them, too, it has said so twice.
        self.said_gone: set[str] = set()
        self._own_key = self.key(self.url).rstrip("/")

    def key(self, href: str) -> str:
        """The comparable form of an href of this book."""
        return href_key(href, self.url)

    def look(self) -> FoundBook:
        """Ask for the book itself: name and capabilities. One request."""
        with self._multistatus("PROPFIND", requests.PROPFIND_BOOK) as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    return replace(requests.found_book(self.session, self.url, response), url=self.url)
        raise BookGoneError

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Changes:
        """What has changed since `token`, or `ctag` where the server knows no tokens; everything for empty ones.

        One request where nothing changed. Without tokens a change costs two, the ctag and the listing, or one where the
        book `is_small`: then it is listed at once. A token that the server refuses gives the full listing. A server may
        also answer with all cards where only changes were asked for: only the caller can tell.
        """
        # Where a server lists no reports, but gave a token with its listing, it is asked.
        if self.caps.has_sync or (token and not self.caps.reports and not self.caps.refused):
            try:
                return self._sync(token)
            except BookMovedError:
                raise
            except (StatusError, MalformedAnswerError, AccessDeniedError, BookGoneError) as error:
                # An old token, however it is said; or a server that lists the report and does not have it. If the
                # book itself is gone or closed, the listing says so again.
                if error.status in NO_REPORT:
                    self.note_refused("sync-collection")
                return self.list()
        unchanged = Changes(token=token, ctag=ctag, is_unchanged=True)
        if ctag and not is_small and self._ctag() == ctag:
            return unchanged
        listing = self.list()
        return unchanged if ctag and listing.ctag == ctag else listing

    def note_refused(self, report: str) -> None:
        """The server does not have this report: it is not asked for it again."""
        self.caps = replace(self.caps, refused=tuple(sorted({*self.caps.refused, report})))

    def ask_again(self) -> None:
        """A server may have learnt a report that it once refused, or have refused it by mistake."""
        self.caps = replace(self.caps, refused=())

    def list(self) -> Changes:
        """Every card of the book, by a PROPFIND that is whole and well-formed or raises."""
        entries: dict[str, Entry] = {}
        ctag = token = ""
        names_itself = False
        patience = self.session.patience(LISTING_SECONDS)
        with patience, self._multistatus("PROPFIND", requests.PROPFIND_LISTING, depth="1") as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    names_itself = True
                    ctag, token = response.text_of(f"{CALENDARSERVER}getctag"), response.text_of(f"{DAV}sync-token")
                elif self._is_card(response) and response.status not in _GONE:
                    entry = self._entry(response)
                    entries[entry.key] = entry
                    _check_size(entries)
        if not names_itself and not entries:  # RFC 4918, section 9.1: a listing begins with what was asked for
            raise NotCardDavError("The server lists nothing at all, not even the address book.")
        return Changes(tuple(entries.values()), token=token, ctag=ctag, is_full=True)

    def fetch(self, hrefs: Iterable[str]) -> Iterator[Fetched]:
        """The cards, each href answered exactly once, in no promised order: 50 a request, two requests at a time."""
        return fetch(self, hrefs)

    def get(self, href: str) -> Card | Missing | Unreadable:
        """One card by GET."""
        return get_card(self, href)

    def new_href(self, name: str) -> str:
        """The href that `create` uses for `name`; for the journal, before anything is sent."""
        return member_path(self.url, name)

    def create(self, name: str, text: str) -> Written:
        """Make a card, unless there is one of that name (If-None-Match)."""
        return put(self, self.new_href(name), text, None)

    def put(self, href: str, text: str, if_match: str) -> Written:
        """Replace a card that is still the one of the etag."""
        return put(self, href, text, if_match)

    def delete(self, href: str, if_match: str | None) -> Written:
        """Delete a card that is still the one of the etag, where one is given. GONE is as good as DONE."""
        return delete(self, href, if_match)

    def _sync(self, token: str) -> Changes:
        changed: dict[str, Entry] = {}
        removed: dict[str, Entry] = {}
        given = token
        for _ in range(_MOST_PAGES):
            is_cut = False
            patience = self.session.patience(READ_SECONDS if token else LISTING_SECONDS)
            with patience, self._multistatus("REPORT", requests.sync_collection(token)) as responses:
                for response in responses:
                    if self._is_self(response):
                        is_cut = is_cut or response.status == 507
                    elif self._is_card(response):
                        self._note(response, changed, removed)
            following = responses.sync_token
            if not is_cut:
                self.said_gone = set(removed)
                return Changes(
                    tuple(changed.values()),
                    tuple(removed.values()),
                    following or token,
                    is_full=not given,
                    is_unchanged=bool(given) and not changed and not removed,
                    may_repeat=_is_time(token),
                )
            if following in {"", token}:
                break  # pages that lead nowhere
            token = following
        return self.list()

    def _note(self, response: Response, changed: dict[str, Entry], removed: dict[str, Entry]) -> None:
        """A later page counts more than an earlier one."""
        entry = self._entry(response)
        to, other = (removed, changed) if response.status in _GONE else (changed, removed)
        other.pop(entry.key, None)
        to[entry.key] = entry
        _check_size(to)

    def _ctag(self) -> str:
        with self._multistatus("PROPFIND", requests.PROPFIND_CTAG) as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    return response.text_of(f"{CALENDARSERVER}getctag")
        return ""

    def _entry(self, response: Response) -> Entry:
        return Entry(response.href, self.key(response.href), read_etag(response.text_of(f"{DAV}getetag")))

    def _is_self(self, response: Response) -> bool:
        return self.key(response.href).rstrip("/") == self._own_key

    def _is_card(self, response: Response) -> bool:
        kind = response.text_of(f"{DAV}getcontenttype").lower()
        is_folder = response.href.endswith("/") or response.has_type(requests.IS_COLLECTION)
        return 0 < len(response.href) <= LONGEST_URL and not is_folder and not kind.startswith(_NO_CARDS)

    def _check_is_book(self, response: Response) -> None:
        if response.status in _GONE:  # a 207 that says so of the book itself
            raise BookGoneError(status=response.status)
        if f"{DAV}resourcetype" in response.props and not response.has_type(requests.IS_BOOK):
            raise BookGoneError("What is at the address of the book is no address book any more.")

    @contextmanager
    def _multistatus(self, method: str, body: str, depth: str = "0") -> Iterator[Multistatus]:
        """A request to the book itself: what says that it is gone, or elsewhere, is an error of its own."""
        try:
            with self.session.multistatus(method, self.url, body, depth) as (url, responses):
                if self.key(url).rstrip("/") != self._own_key:
                    raise BookMovedError(url, status=301)
                yield responses
        except ElsewhereError as error:
            if error.location:
                raise BookMovedError(error.location, status=error.status or 301) from error
            raise
        except StatusError as error:
            if error.status in _BOOK_GONE and _TOKEN_REFUSED not in error.conditions:
                raise BookGoneError(status=error.status) from error
            raise


def _is_time(token: str) -> bool:
    """Whether a token is a time in seconds (SOGo): it never expires, and what changed in its second is listed again."""
    return re.fullmatch("[0-9]{10}", token) is not None


def locks_whole_book(token: str) -> bool:
    """Whether a token is the id of a tree of git (Xandikos): each write is a commit, and one that comes while another
    is under way gets 423 and would have to be sent again."""
    return re.fullmatch("[0-9a-f]{40}", token) is not None


def _check_size(entries: Sized) -> None:
    """A server that lists without end is none that can be synced with."""
    if len(entries) > _MOST_CARDS:
        raise NotCardDavError(f"The address book lists more than {_MOST_CARDS:,} contacts.")
