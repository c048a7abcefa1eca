"""One address book on a server: conditional writes of its cards, whose replies become a `WriteOutcome`. kernel.webdav
reads what has changed in it, and its cards."""

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from carddav.client.address_books import ADDRESS_BOOKS
from contacts_project.kernel.outbound.session import OutboundResponse
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.errors import ConnectionBrokenError, ServerTimeoutError
from contacts_project.kernel.webdav.etags import if_match_candidates, parse_etag
from contacts_project.kernel.webdav.hrefs import MAX_URL_LENGTH, member_path, member_url, resolve_url
from contacts_project.kernel.webdav.listing import ListedCollection
from contacts_project.kernel.webdav.session import is_html, read_error_conditions

_REFUSED = define_text("card_refused", "The server refuses the card with status %(status)d.")
_REFUSED_FOR = define_text("card_refused_for", "The server refuses the card with status %(status)d (%(conditions)s).")

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


class WriteOutcome(StrEnum):
    """The outcome of a write."""

    DONE = "done"
    CHANGED = "changed"  # another client has written the card: fetch and merge it
    GONE = "gone"  # 404 or 410
    REFUSED = "refused"  # the content is not accepted
    READ_ONLY = "read_only"
    TOO_LARGE = "too_large"
    FULL = "full"  # out of storage
    LOCKED = "locked"  # not applied, since another write is under way: send it again
    UNKNOWN = "unknown"  # may have been applied: ask the server before sending it again


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a write. `href` is where the card is now, `etag` its new ETag if the server returned one, `message`
    is for the user."""

    outcome: WriteOutcome
    href: str
    etag: str | None = None
    status: int | None = None
    message: Text | None = None


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


class AddressBook(ListedCollection):
    """Reading and writing the cards of one book.

    All methods raise DavError, and CollectionGoneError if the book itself no longer exists.
    """

    kind = ADDRESS_BOOKS

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


def locks_whole_book(token: str) -> bool:
    """Whether a token is a git tree id (Xandikos). Each write is a commit, and a parallel one is refused with 423 and
    has to be repeated."""
    return re.fullmatch("[0-9a-f]{40}", token) is not None
