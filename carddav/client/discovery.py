"""Finds the address books behind what a user typed (RFC 6764, RFC 6352 section 7.1, RFC 5397)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from carddav.client import requests
from carddav.client.errors import (
    AccessDeniedError,
    BookGoneError,
    DavError,
    LoginRefusedError,
    NotCardDavError,
    StatusError,
)
from carddav.client.hrefs import href_key, origin, server_url_of
from carddav.client.multistatus import CARD, DAV, Response
from carddav.client.service_records import find_services
from carddav.client.session import DavSession
from carddav.client.shapes import FoundBook

WELL_KNOWN = "/.well-known/carddav"
# Where the servers that know no well-known address keep theirs, the one of the hint first.
_KNOWN_PATHS = {"nextcloud": "remote.php/dav/", "baikal": "dav.php/", "sogo": "SOGo/dav/", "davical": "caldav.php/"}
# What the provider calls the book that everybody has: the last part of its path.
_DEFAULT_BOOKS = {"nextcloud": "contacts", "google": "default", "icloud": "card", "outlook": "contacts"}


@dataclass(frozen=True, slots=True)
class Discovered:
    """What is there: the user's principal and homes where the server has them, all books, and the one to use."""

    book: FoundBook
    books: tuple[FoundBook, ...]
    principal_url: str = ""
    home_urls: tuple[str, ...] = ()


@dataclass(slots=True)
class _ProbeResult:
    """What a probe of one URL came upon."""

    principal_url: str = ""
    home_urls: list[str] = field(default_factory=list)
    books: list[FoundBook] = field(default_factory=list)
    is_book: bool = False


def discover(
    session: DavSession, *, provider: str | None = None, stored: str = "", has_left: bool = False
) -> Discovered:
    """Find the books of the session's login, and choose: the URL if it is a book, else the one that is stored, else the
    only one, else the provider's own, else the first that may be written to.

    Where the stored one `has_left` its host, it is the one of the same path at another. Raises BookGoneError where it
    is not among them: never another in its place. LoginRefusedError at the first 401. Where nothing is found, what
    stood in the way of it, NotCardDavError as a rule.
    """
    session.is_discovering = True
    try:
        probed = _search(session, provider)
    finally:
        session.is_discovering = False
    return Discovered(
        _choose(probed, provider, stored, has_left=has_left),
        tuple(probed.books),
        probed.principal_url,
        tuple(probed.home_urls),
    )


def _search(session: DavSession, provider: str | None) -> _ProbeResult:
    is_domain = "://" not in session.login.url
    seen: set[str] = set()
    silent: set[object] = set()
    failures: list[DavError] = []
    has_answered = False
    for url in _candidates(session, provider):
        if url in seen or origin(url) in silent:
            continue
        seen.add(url)
        try:
            probed = _probe(session, url)
        except LoginRefusedError:
            raise
        except AccessDeniedError as error:
            # Once the server has shown the login what there is, a path beside that is only guessed at (Radicale).
            failures += [] if has_answered else [error]
        except NotCardDavError:
            continue
        except DavError as error:
            if not is_domain:
                raise  # all else is on the same host
            failures.append(error)
            silent.add(origin(url))
        else:
            if probed.books:
                return probed
            has_answered = True
    raise failures[0] if failures else NotCardDavError("No address book is found there.")


def _candidates(session: DavSession, provider: str | None) -> Iterator[str]:
    """Where to look, in this order: the URL, well-known, the root, known paths, and what DNS says of the domain."""
    typed = session.login.url
    first = server_url_of(typed)
    split = urlsplit(first)
    root = f"{split.scheme}://{split.netloc}"
    yield first
    yield from _well_known(session, root)
    yield f"{root}/"
    paths = sorted(_KNOWN_PATHS, key=lambda name: name != provider)
    for folder in dict.fromkeys([split.path.rstrip("/") + "/", "/"]):
        yield from (f"{root}{folder}{_KNOWN_PATHS[name]}" for name in paths)
    if "://" not in typed:
        for service in find_services(split.hostname or ""):
            session.trust(service.url)
            if not service.has_path:
                yield from _well_known(session, service.url.rstrip("/"))
            yield service.url


def _well_known(session: DavSession, root: str) -> Iterator[str]:
    """Well-known itself, which redirects a PROPFIND as a rule; then where it redirects a GET."""
    url = root + WELL_KNOWN
    yield url
    try:
        with session.answer("GET", url) as answer:
            target = answer.url
    except DavError:
        return
    if target != url:
        yield target


def _probe(session: DavSession, url: str) -> _ProbeResult:
    """What one URL leads to: a book, a home, or a principal."""
    probed = _ProbeResult()
    response, final = _ask(session, url)
    if response.has_type(requests.IS_BOOK):
        probed.is_book = True
        probed.principal_url = _principal(session, final, response)
        probed.books.append(requests.found_book(session, final, response))
        return probed
    homes = _homes(session, final, response)
    probed.principal_url = _principal(session, final, response)
    if not homes and probed.principal_url and href_key(probed.principal_url) != href_key(final):
        session.trust(probed.principal_url)
        response, final = _ask(session, probed.principal_url)
        homes = _homes(session, final, response)
    # A server without principals keeps its books below the URL itself.
    failure: NotCardDavError | AccessDeniedError | None = None
    for home in homes or [final]:
        session.trust(home)
        try:
            probed.books += _books_below(session, home)
        except (NotCardDavError, AccessDeniedError) as error:  # another home may have the books
            failure = error
    if failure is not None and not probed.books:
        raise failure
    probed.home_urls = homes
    return probed


def _ask(session: DavSession, url: str) -> tuple[Response, str]:
    """What a URL says of itself, and the URL behind its redirects."""
    try:
        found, final = _first_response(session, url, requests.PROPFIND_ANYTHING)
    except StatusError as error:
        if error.status != 500:
            raise
        found, final = _first_response(session, url, requests.PROPFIND_BASICS)
    if found is None or (found.status and found.status >= 400):
        raise NotCardDavError
    principal = found.props.get(f"{DAV}current-user-principal")
    if principal is not None and principal.find(f"{DAV}unauthenticated") is not None:
        raise LoginRefusedError
    return found, final


def _first_response(session: DavSession, url: str, body: str) -> tuple[Response | None, str]:
    with session.multistatus("PROPFIND", url, body, "0") as (final, responses):
        return next(iter(responses), None), final


def _principal(session: DavSession, base_url: str, response: Response) -> str:
    holder = response.props.get(f"{DAV}current-user-principal")
    href = holder.text_of(f"{DAV}href") if holder else ""
    return session.linked(base_url, href) if href else ""


def _homes(session: DavSession, base_url: str, response: Response) -> list[str]:
    holder = response.props.get(f"{CARD}addressbook-home-set")
    hrefs = [child.text.strip() for child in holder.all(f"{DAV}href")] if holder else []
    return [session.linked(base_url, href) for href in hrefs if href]


def _books_below(session: DavSession, home: str) -> list[FoundBook]:
    try:
        return _listed_books(session, home, requests.PROPFIND_BOOK)
    except StatusError as error:
        if error.status != 500:
            raise
        return _listed_books(session, home, requests.PROPFIND_BASICS)


def _listed_books(session: DavSession, home: str, body: str) -> list[FoundBook]:
    with session.multistatus("PROPFIND", home, body, "1") as (final, responses):
        found = [
            requests.found_book(session, final, response)
            for response in responses
            if response.has_type(requests.IS_BOOK)
        ]
    for book in found:
        session.trust(book.url)
    return found


def _choose(probed: _ProbeResult, provider: str | None, stored: str, *, has_left: bool) -> FoundBook:
    books = probed.books
    if stored:
        for book in books:
            is_elsewhere = origin(book.url) != origin(stored)
            if is_elsewhere == has_left and _place(book) == href_key(stored).rstrip("/"):
                return book
        raise BookGoneError
    default = _DEFAULT_BOOKS.get(provider or "", "")
    named = [book for book in books if default and _place(book).endswith(f"/{default}")]
    writable = [book for book in books if book.caps.writable]
    return [*named, *writable, *books][0]


def _place(book: FoundBook) -> str:
    return href_key(book.url).rstrip("/")
