"""One address book on a server: what has changed in it, and conditional writes of its cards, whose replies become an
`WriteOutcome`. The deviations of servers from the RFCs are handled here and below."""

import re
from collections.abc import Sized
from urllib.parse import urlsplit

from carddav.client import request_bodies
from carddav.client.collection import (
    GONE_STATUSES,
    UNSUPPORTED_REPORT_STATUSES,
    Collection,
    if_match_candidates,
    parse_etag,
)
from carddav.client.shapes import Listing, ListingEntry, WriteOutcome, WriteResult
from contacts_project.kernel.outbound.session import OutboundResponse
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    BookGoneError,
    BookMovedError,
    ConnectionBrokenError,
    MalformedResponseError,
    NotCardDavError,
    ServerTimeoutError,
    StatusError,
)
from contacts_project.kernel.webdav.hrefs import MAX_URL_LENGTH, member_path, member_url, resolve_url
from contacts_project.kernel.webdav.multistatus import CALENDARSERVER, DAV, Response
from contacts_project.kernel.webdav.session import LISTING_SECONDS, READ_SECONDS, is_html, read_error_conditions

_EMPTY = define_text("empty_listing", "The server lists nothing at all, not even the address book.")
_TOO_MANY_CARDS = define_text("book_too_large", "The address book lists more than %(limit)s contacts.")
_REFUSED = define_text("card_refused", "The server refuses the card with status %(status)d.")
_REFUSED_FOR = define_text("card_refused_for", "The server refuses the card with status %(status)d (%(conditions)s).")

_MAX_PAGES = 10_000
_MAX_CARDS = 100_000
# Content types of other members of the collection: folders, pages, calendars.
_NON_CARD_TYPES = ("text/html", "text/calendar", "httpd/", "image/")
_CARD_TYPE = "text/vcard; charset=utf-8"
_SUCCESS_STATUSES = {200, 201, 202, 204, 205}
# Preconditions that the card itself violates (RFC 6352, section 6.3.2.1). Other names in a 409 or 412 only repeat the
# status, such as DAViCal's if-match.
_CARD_PRECONDITIONS = {
    "valid-address-data",
    "supported-address-data",
    "no-uid-conflict",
    "addressbook-collection-location-ok",
}
_OUTCOME_BY_STATUS = {
    # By these, servers refuse the content of a card.
    **dict.fromkeys((400, 403, 405, 415, 422), WriteOutcome.REFUSED),
    402: WriteOutcome.FULL,
    404: WriteOutcome.GONE,
    409: WriteOutcome.CHANGED,
    410: WriteOutcome.GONE,
    412: WriteOutcome.CHANGED,
    413: WriteOutcome.TOO_LARGE,
    423: WriteOutcome.LOCKED,
    501: WriteOutcome.REFUSED,
    507: WriteOutcome.FULL,
}


class AddressBook(Collection):
    """Reading and writing the cards of one book.

    All methods raise CardDavError, and BookGoneError if the book itself no longer exists.
    """

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Listing:
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
        unchanged = Listing(token=token, ctag=ctag, is_unchanged=True)
        if ctag and not is_small and self._fetch_ctag() == ctag:
            return unchanged
        listing = self.list()
        # A small book is listed without asking for its ctag first, which the listing contains as well.
        return unchanged if ctag and listing.ctag == ctag else listing

    def list(self) -> Listing:
        """Every card of the book. Raises if the response to the PROPFIND is incomplete or malformed."""
        entries: dict[str, ListingEntry] = {}
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
        return Listing(tuple(entries.values()), token=token, ctag=ctag, is_full=True)

    def new_href(self, name: str) -> str:
        """The href that `create` uses for `name`; the journal stores it before the request."""
        return member_path(self.url, name)

    def create(self, name: str, text: str) -> WriteResult:
        """Create a card; fails if the name exists (If-None-Match)."""
        headers = {"Content-Type": _CARD_TYPE, "If-None-Match": "*"}
        return self._send("PUT", self.new_href(name), headers, text.encode())

    def put(self, href: str, text: str, if_match: str) -> WriteResult:
        """Replace a card that still has the ETag (If-Match)."""
        return self._send_if_match("PUT", href, {"Content-Type": _CARD_TYPE}, text.encode(), if_match)

    def delete(self, href: str, if_match: str | None) -> WriteResult:
        """Delete a card that still has the ETag, if one is given. A 404 or 410 is `WriteOutcome.GONE`."""
        if if_match is None:
            return self._send("DELETE", href, {}, b"")
        return self._send_if_match("DELETE", href, {}, b"", if_match)

    def _sync_collection(self, token: str) -> Listing:
        changed: dict[str, ListingEntry] = {}
        removed: dict[str, ListingEntry] = {}
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
                return Listing(
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

    def _collect(self, response: Response, changed: dict[str, ListingEntry], removed: dict[str, ListingEntry]) -> None:
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

    def _parse_entry(self, response: Response) -> ListingEntry:
        return ListingEntry(response.href, self.key(response.href), parse_etag(response.text_of(f"{DAV}getetag")))

    def _is_card(self, response: Response) -> bool:
        kind = response.text_of(f"{DAV}getcontenttype").lower()
        is_folder = response.href.endswith("/") or response.has_type(request_bodies.COLLECTION_TYPE)
        return 0 < len(response.href) <= MAX_URL_LENGTH and not is_folder and not kind.startswith(_NON_CARD_TYPES)

    def _send_if_match(self, method: str, href: str, headers: dict[str, str], body: bytes, etag: str) -> WriteResult:
        """Send with the ETag in standard form; after a 412 again in the server's own form."""
        written = WriteResult(WriteOutcome.UNKNOWN, href)
        for form in if_match_candidates(etag):
            written = self._send(method, href, {**headers, "If-Match": form}, body)
            if written.status != 412:
                break
        return written

    def _send(self, method: str, href: str, headers: dict[str, str], body: bytes) -> WriteResult:
        try:
            response, tries = self.session.send(method, member_url(self.url, href), body=body, headers=headers)
        except (ServerTimeoutError, ConnectionBrokenError) as error:
            # Nothing was sent, so the outcome is known: the caller may repeat the request.
            if not error.has_sent:
                raise
            return WriteResult(WriteOutcome.UNKNOWN, href, message=error.text)
        with response:
            # A 200 with HTML is the login page of a proxy, not a successful write.
            if response.status in _SUCCESS_STATUSES and not (response.status == 200 and is_html(response)):
                etag = parse_etag(response.headers.get("ETag")) if method == "PUT" else None
                return WriteResult(WriteOutcome.DONE, self._resolve_location(href, response), etag, response.status)
            preconditions = read_error_conditions(response)
            outcome = self._outcome(response.status, preconditions)
            if response.status == 412 and tries > 1:
                # The first attempt, which was answered with 429 or 503, may have succeeded after all.
                outcome = WriteOutcome.UNKNOWN
            message = _REFUSED.format(status=response.status)
            if preconditions:
                message = _REFUSED_FOR.format(status=response.status, conditions=sorted(preconditions))
            return WriteResult(outcome, href, None, response.status, message)

    def _outcome(self, status: int, preconditions: frozenset[str]) -> WriteOutcome:
        if "max-resource-size" in preconditions:
            return WriteOutcome.TOO_LARGE
        # A 403 may also concern the content of one card: it means read-only only if the book was not writable before.
        if "need-privileges" in preconditions or (status == 403 and not self.caps.writable):
            return WriteOutcome.READ_ONLY
        if preconditions & {"quota-not-exceeded", "sufficient-disk-space"}:
            return WriteOutcome.FULL
        if preconditions & _CARD_PRECONDITIONS:
            return WriteOutcome.REFUSED
        if status in _OUTCOME_BY_STATUS:
            return _OUTCOME_BY_STATUS[status]
        # Another 4xx says nothing of the content: the caller looks at the card. After a 5xx the server may have applied
        # the write.
        return WriteOutcome.CHANGED if 400 <= status < 500 else WriteOutcome.UNKNOWN

    def _resolve_location(self, href: str, response: OutboundResponse) -> str:
        """The href of the card: a server may choose another one and return it in Location."""
        location = response.headers.get("Location")
        if not location:
            return href
        try:
            path = urlsplit(resolve_url(self.url, location)).path
        except ValueError:  # not a URL
            return href
        # A Location outside of the book, or of a folder, cannot be the card.
        is_inside = (
            self.key(path).startswith(self.key(self.url)) and not path.endswith("/") and len(path) <= MAX_URL_LENGTH
        )
        return path if is_inside and self.key(path) != self.key(href) else href


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
