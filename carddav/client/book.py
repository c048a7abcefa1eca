"""One address book on a server. The deviations of servers from the RFCs are handled here and below."""

import re
from collections.abc import Iterable, Iterator, Sized

from carddav.client import request_bodies
from carddav.client.collection import GONE_STATUSES, Collection
from carddav.client.conditional_writes import delete, put
from carddav.client.errors import (
    AccessDeniedError,
    BookGoneError,
    BookMovedError,
    ConnectionBrokenError,
    MalformedResponseError,
    NotCardDavError,
    StatusError,
)
from carddav.client.etags import parse_etag
from carddav.client.hrefs import MAX_URL_LENGTH, member_path
from carddav.client.multiget import UNSUPPORTED_REPORT_STATUSES, fetch, get_card
from carddav.client.multistatus import CALENDARSERVER, DAV, Response
from carddav.client.session import LISTING_SECONDS, READ_SECONDS
from carddav.client.shapes import (
    Card,
    Changes,
    Entry,
    Fetched,
    Missing,
    Unreadable,
    WriteResult,
)
from contacts_project.kernel.texts import define_text

_EMPTY = define_text("empty_listing", "The server lists nothing at all, not even the address book.")
_TOO_MANY_CARDS = define_text("book_too_large", "The address book lists more than %(limit)s contacts.")

_MAX_PAGES = 10_000
_MAX_CARDS = 100_000
# Content types of other members of the collection: folders, pages, calendars.
_NON_CARD_TYPES = ("text/html", "text/calendar", "httpd/", "image/")


class Book(Collection):
    """Reading and writing the cards of one book.

    All methods raise DavError, and BookGoneError if the book itself no longer exists.
    """

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Changes:
        """What has changed since `token`, or since `ctag` if the server has no sync tokens; everything if both are
        empty.

        One request if nothing has changed. Without tokens a change costs two requests (ctag, listing), or one if the
        book `is_small` and is therefore listed at once. A refused token yields the full listing. A server may also
        return all cards where only changes were requested; the caller has to detect that.
        """
        # A server that lists no reports may support them all the same: a token in its listing is reason to try.
        if self.caps.has_sync or (token and not self.caps.reports and not self.caps.refused):
            try:
                return self._sync_collection(token)
            except BookMovedError:
                # Must come before BookGoneError, its base: the listing would be redirected, too.
                raise
            except (StatusError, MalformedResponseError, AccessDeniedError, BookGoneError) as error:
                # The token has expired (servers use many statuses for that), or the server lists a report that it does
                # not have. If the book itself is gone or forbidden, the listing raises the same error again.
                if error.status in UNSUPPORTED_REPORT_STATUSES:
                    self.record_unsupported_report("sync-collection")
                return self.list()
        unchanged = Changes(token=token, ctag=ctag, is_unchanged=True)
        if ctag and not is_small and self._fetch_ctag() == ctag:
            return unchanged
        listing = self.list()
        # A small book is listed without asking for its ctag first, which the listing contains as well.
        return unchanged if ctag and listing.ctag == ctag else listing

    def list(self) -> Changes:
        """Every card of the book. Raises if the response to the PROPFIND is incomplete or malformed."""
        entries: dict[str, Entry] = {}
        ctag = token = ""
        names_itself = False
        idle_timeout = self.session.idle_timeout(LISTING_SECONDS)
        with idle_timeout, self._multistatus("PROPFIND", request_bodies.PROPFIND_LISTING, depth="1") as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    names_itself = True
                    ctag, token = response.text_of(f"{CALENDARSERVER}getctag"), response.text_of(f"{DAV}sync-token")
                elif self._is_card(response) and response.status not in GONE_STATUSES:
                    entry = self._parse_entry(response)
                    entries[entry.key] = entry
                    _check_card_count(entries)
        # RFC 4918, section 9.1: the response includes the requested collection itself. An empty multistatus is not an
        # empty book.
        if not names_itself and not entries:
            raise NotCardDavError(_EMPTY)
        return Changes(tuple(entries.values()), token=token, ctag=ctag, is_full=True)

    def fetch(self, hrefs: Iterable[str]) -> Iterator[Fetched]:
        """Fetch cards: each href is answered exactly once, in any order. 50 hrefs a request, two requests in
        parallel."""
        return fetch(self, hrefs)

    def get(self, href: str) -> Card | Missing | Unreadable:
        """Fetch one card by GET."""
        return get_card(self, href)

    def get_readable(self, href: str) -> Card | Missing:
        """`get`, but raises ConnectionBrokenError if the card exists and cannot be read."""
        found = self.get(href)
        if isinstance(found, Unreadable):
            raise ConnectionBrokenError(found.message, status=found.status)
        return found

    def new_href(self, name: str) -> str:
        """The href that `create` uses for `name`; the journal stores it before the request."""
        return member_path(self.url, name)

    def create(self, name: str, text: str) -> WriteResult:
        """Create a card; fails if the name exists (If-None-Match)."""
        return put(self, self.new_href(name), text, None)

    def put(self, href: str, text: str, if_match: str) -> WriteResult:
        """Replace a card that still has the ETag (If-Match)."""
        return put(self, href, text, if_match)

    def delete(self, href: str, if_match: str | None) -> WriteResult:
        """Delete a card that still has the ETag, if one is given. A card that is gone (404, 410) is `Outcome.GONE`."""
        return delete(self, href, if_match)

    def _sync_collection(self, token: str) -> Changes:
        changed: dict[str, Entry] = {}
        removed: dict[str, Entry] = {}
        given = token
        for _ in range(_MAX_PAGES):
            is_cut = False
            idle_timeout = self.session.idle_timeout(READ_SECONDS if token else LISTING_SECONDS)
            with idle_timeout, self._multistatus("REPORT", request_bodies.sync_collection(token)) as responses:
                for response in responses:
                    if self._is_self(response):
                        # 507 for the collection itself: the result is truncated (RFC 6578, section 3.6).
                        is_cut = is_cut or response.status == 507
                    elif self._is_card(response):
                        self._collect(response, changed, removed)
            following = responses.sync_token
            if not is_cut:
                self.reported_gone = set(removed)
                # With an empty token the report lists the whole book (RFC 6578, section 3.4).
                return Changes(
                    tuple(changed.values()),
                    tuple(removed.values()),
                    following or token,
                    is_full=not given,
                    is_unchanged=bool(given) and not changed and not removed,
                    may_repeat=_is_timestamp_token(token),
                )
            if following in {"", token}:
                break  # the token does not advance: the server would repeat this page for ever
            token = following
        return self.list()

    def _collect(self, response: Response, changed: dict[str, Entry], removed: dict[str, Entry]) -> None:
        """Add a response; a later page overrides an earlier one."""
        entry = self._parse_entry(response)
        to, other = (removed, changed) if response.status in GONE_STATUSES else (changed, removed)
        other.pop(entry.key, None)
        to[entry.key] = entry
        _check_card_count(to)

    def _fetch_ctag(self) -> str:
        with self._multistatus("PROPFIND", request_bodies.PROPFIND_CTAG) as responses:
            for response in responses:
                if self._is_self(response):
                    self._check_is_book(response)
                    return response.text_of(f"{CALENDARSERVER}getctag")
        return ""

    def _parse_entry(self, response: Response) -> Entry:
        return Entry(response.href, self.key(response.href), parse_etag(response.text_of(f"{DAV}getetag")))

    def _is_card(self, response: Response) -> bool:
        kind = response.text_of(f"{DAV}getcontenttype").lower()
        is_folder = response.href.endswith("/") or response.has_type(request_bodies.COLLECTION_TYPE)
        return 0 < len(response.href) <= MAX_URL_LENGTH and not is_folder and not kind.startswith(_NON_CARD_TYPES)


def _is_timestamp_token(token: str) -> bool:
    """Whether a token is a time in seconds (SOGo). Such a token never expires, and changes of the same second are
    listed again."""
    return re.fullmatch("[0-9]{10}", token) is not None


def locks_whole_book(token: str) -> bool:
    """Whether a token is a git tree id (Xandikos). Each write is a commit, and a parallel one is refused with 423 and
    has to be repeated."""
    return re.fullmatch("[0-9a-f]{40}", token) is not None


def _check_card_count(entries: Sized) -> None:
    """Raise NotCardDavError if the listing does not end."""
    if len(entries) > _MAX_CARDS:
        raise NotCardDavError(_TOO_MANY_CARDS.format(limit=_MAX_CARDS))
