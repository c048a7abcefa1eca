"""Writes one card, and says what became of it in words that mean the same on every server."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carddav.client.errors import ConnectionBrokenError, ServerTimeoutError
from carddav.client.etags import if_match_forms, read_etag
from carddav.client.hrefs import LONGEST_URL, linked_url, member_url
from carddav.client.session import conditions_of, is_html
from carddav.client.shapes import Outcome, Written
from contacts_project.kernel.outbound import Answer

if TYPE_CHECKING:  # Book is what calls this
    from carddav.client.book import Book

CARD_TYPE = "text/vcard; charset=utf-8"
_DONE = {200, 201, 202, 204, 205}
# What a card breaks (RFC 6352, section 6.3.2.1). Other names say with a 409 or 412 what it says itself: DAViCal's
# if-match is no fault of the card.
_BAD_CARD = {
    "valid-address-data",
    "supported-address-data",
    "no-uid-conflict",
    "addressbook-collection-location-ok",
}
_OUTCOMES = {
    402: Outcome.FULL,
    404: Outcome.GONE,
    409: Outcome.CHANGED,
    410: Outcome.GONE,
    412: Outcome.CHANGED,
    413: Outcome.TOO_LARGE,
    423: Outcome.LOCKED,
    501: Outcome.REFUSED,
    507: Outcome.FULL,
}


def put(book: "Book", href: str, text: str, if_match: str | None) -> Written:
    """PUT with If-Match, or If-None-Match where there is no etag to match."""
    headers = {"Content-Type": CARD_TYPE}
    if if_match is None:
        return _send(book, "PUT", href, {**headers, "If-None-Match": "*"}, text.encode())
    return _matching(book, "PUT", href, headers, text.encode(), if_match)


def delete(book: "Book", href: str, if_match: str | None) -> Written:
    """DELETE, with If-Match where the etag is known."""
    if if_match is None:
        return _send(book, "DELETE", href, {}, b"")
    return _matching(book, "DELETE", href, {}, b"", if_match)


def _matching(book: "Book", method: str, href: str, headers: dict[str, str], body: bytes, etag: str) -> Written:
    """The etag as the standard wants it; where that does not match, once more as the server itself spelled it."""
    written = Written(Outcome.UNKNOWN, href)
    for form in if_match_forms(etag):
        written = _send(book, method, href, {**headers, "If-Match": form}, body)
        if written.status != 412:
            break
    return written


def _send(book: "Book", method: str, href: str, headers: dict[str, str], body: bytes) -> Written:
    try:
        answer, tries = book.session.send(method, member_url(book.url, href), body=body, headers=headers)
    except (ServerTimeoutError, ConnectionBrokenError) as error:
        if not error.has_sent:
            raise
        return Written(Outcome.UNKNOWN, href, message=str(error))
    with answer:
        if answer.status in _DONE and not (answer.status == 200 and is_html(answer)):
            etag = read_etag(answer.headers.get("ETag")) if method == "PUT" else None
            return Written(Outcome.DONE, _located(book, href, answer), etag, answer.status)
        conditions = conditions_of(answer)
        outcome = _outcome(book, answer.status, conditions)
        if answer.status == 412 and tries > 1:
            # The first try, which was answered with "busy", may have done it after all.
            outcome = Outcome.UNKNOWN
        return Written(outcome, href, None, answer.status, _message(answer.status, conditions), conditions)


def _outcome(book: "Book", status: int, conditions: frozenset[str]) -> Outcome:
    if "max-resource-size" in conditions:
        return Outcome.TOO_LARGE
    if "need-privileges" in conditions or (status == 403 and not book.caps.writable):
        return Outcome.READ_ONLY
    if conditions & {"quota-not-exceeded", "sufficient-disk-space"}:
        return Outcome.FULL
    if conditions & _BAD_CARD:
        return Outcome.REFUSED
    if status in _OUTCOMES:
        return _OUTCOMES[status]
    return Outcome.REFUSED if 400 <= status < 500 else Outcome.UNKNOWN


def _located(book: "Book", href: str, answer: Answer) -> str:
    """Where the card is now: a server may rename it and say so in Location."""
    location = answer.headers.get("Location")
    if not location:
        return href
    try:
        path = urlsplit(linked_url(book.url, location)).path
    except ValueError:  # that is no URL
        return href
    is_inside = book.key(path).startswith(book.key(book.url)) and not path.endswith("/") and len(path) <= LONGEST_URL
    return path if is_inside and book.key(path) != book.key(href) else href


def _message(status: int, conditions: frozenset[str]) -> str:
    why = f" ({', '.join(sorted(conditions))})" if conditions else ""
    return f"The server refuses the card with status {status}{why}."
