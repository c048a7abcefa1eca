"""Conditional writes of single cards; the replies of all servers are mapped to `Outcome`."""

from urllib.parse import urlsplit

from carddav.client.collection import Collection
from carddav.client.errors import ConnectionBrokenError, ServerTimeoutError
from carddav.client.etags import if_match_candidates, parse_etag
from carddav.client.hrefs import MAX_URL_LENGTH, member_url, resolve_url
from carddav.client.session import is_html, read_error_conditions
from carddav.client.shapes import Outcome, WriteResult
from contacts_project.kernel.outbound import OutboundResponse
from contacts_project.kernel.texts import define_text

_REFUSED = define_text("card_refused", "The server refuses the card with status %(status)d.")
_REFUSED_FOR = define_text("card_refused_for", "The server refuses the card with status %(status)d (%(conditions)s).")

CARD_TYPE = "text/vcard; charset=utf-8"
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
    **dict.fromkeys((400, 403, 405, 415, 422), Outcome.REFUSED),
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


def put(book: Collection, href: str, text: str, if_match: str | None) -> WriteResult:
    """PUT with If-Match, or with If-None-Match if there is no ETag."""
    headers = {"Content-Type": CARD_TYPE}
    if if_match is None:
        return _send(book, "PUT", href, {**headers, "If-None-Match": "*"}, text.encode())
    return _send_if_match(book, "PUT", href, headers, text.encode(), if_match)


def delete(book: Collection, href: str, if_match: str | None) -> WriteResult:
    """DELETE, with If-Match if the ETag is known."""
    if if_match is None:
        return _send(book, "DELETE", href, {}, b"")
    return _send_if_match(book, "DELETE", href, {}, b"", if_match)


def _send_if_match(
    book: Collection, method: str, href: str, headers: dict[str, str], body: bytes, etag: str
) -> WriteResult:
    """Send with the ETag in standard form; after a 412 again in the server's own form."""
    written = WriteResult(Outcome.UNKNOWN, href)
    for form in if_match_candidates(etag):
        written = _send(book, method, href, {**headers, "If-Match": form}, body)
        if written.status != 412:
            break
    return written


def _send(book: Collection, method: str, href: str, headers: dict[str, str], body: bytes) -> WriteResult:
    try:
        response, tries = book.session.send(method, member_url(book.url, href), body=body, headers=headers)
    except (ServerTimeoutError, ConnectionBrokenError) as error:
        # Nothing was sent, so the outcome is known: the caller may repeat the request.
        if not error.has_sent:
            raise
        return WriteResult(Outcome.UNKNOWN, href, message=error.text)
    with response:
        # A 200 with HTML is the login page of a proxy, not a successful write.
        if response.status in _SUCCESS_STATUSES and not (response.status == 200 and is_html(response)):
            etag = parse_etag(response.headers.get("ETag")) if method == "PUT" else None
            return WriteResult(Outcome.DONE, _resolve_location(book, href, response), etag, response.status)
        preconditions = read_error_conditions(response)
        outcome = _outcome(book, response.status, preconditions)
        if response.status == 412 and tries > 1:
            # The first attempt, which was answered with 429 or 503, may have succeeded after all.
            outcome = Outcome.UNKNOWN
        message = _REFUSED.format(status=response.status)
        if preconditions:
            message = _REFUSED_FOR.format(status=response.status, conditions=sorted(preconditions))
        return WriteResult(outcome, href, None, response.status, message, preconditions)


def _outcome(book: Collection, status: int, preconditions: frozenset[str]) -> Outcome:
    if "max-resource-size" in preconditions:
        return Outcome.TOO_LARGE
    # A 403 may also concern the content of one card: it means read-only only if the book was not writable before.
    if "need-privileges" in preconditions or (status == 403 and not book.caps.writable):
        return Outcome.READ_ONLY
    if preconditions & {"quota-not-exceeded", "sufficient-disk-space"}:
        return Outcome.FULL
    if preconditions & _CARD_PRECONDITIONS:
        return Outcome.REFUSED
    if status in _OUTCOME_BY_STATUS:
        return _OUTCOME_BY_STATUS[status]
    # Another 4xx says nothing of the content: the caller looks at the card. After a 5xx the server may have applied the
    # write.
    return Outcome.CHANGED if 400 <= status < 500 else Outcome.UNKNOWN


def _resolve_location(book: Collection, href: str, response: OutboundResponse) -> str:
    """The href of the card: a server may choose another one and return it in Location."""
    location = response.headers.get("Location")
    if not location:
        return href
    try:
        path = urlsplit(resolve_url(book.url, location)).path
    except ValueError:  # not a URL
        return href
    # A Location outside of the book, or of a folder, cannot be the card.
    is_inside = book.key(path).startswith(book.key(book.url)) and not path.endswith("/") and len(path) <= MAX_URL_LENGTH
    return path if is_inside and book.key(path) != book.key(href) else href
