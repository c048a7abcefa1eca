"""Discovers the address books behind the address that a user has entered (RFC 6764, RFC 6352 section 7.1, RFC 5397)."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from carddav.client import request_bodies
from carddav.client.shapes import FoundBook
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    BookGoneError,
    CardDavError,
    LoginRefusedError,
    NotCardDavError,
    PolicyError,
    StatusError,
)
from contacts_project.kernel.webdav.hrefs import href_key, normalize_server_url, origin
from contacts_project.kernel.webdav.multistatus import CARD, DAV, Response
from contacts_project.kernel.webdav.session import DavSession

_NO_BOOK = define_text("no_book_found", "No address book is found there.")

WELL_KNOWN = "/.well-known/carddav"
# Paths of servers without a well-known URI; the one of the user's provider is tried first.
_KNOWN_PATHS = {"nextcloud": "remote.php/dav/", "baikal": "dav.php/", "sogo": "SOGo/dav/", "davical": "caldav.php/"}
# The last path segment of the provider's default address book.
_DEFAULT_BOOKS = {"nextcloud": "contacts", "google": "default", "icloud": "card", "outlook": "contacts"}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The principal and home sets if the server has them, all books, and the chosen one."""

    book: FoundBook
    books: tuple[FoundBook, ...]
    principal_url: str = ""
    home_urls: tuple[str, ...] = ()


@dataclass(slots=True)
class _ProbeResult:
    """What a probe of one URL has found."""

    principal_url: str = ""
    home_urls: list[str] = field(default_factory=list)
    books: list[FoundBook] = field(default_factory=list)


def discover(
    session: DavSession, *, provider: str | None = None, stored: str = "", has_moved_host: bool = False
) -> Discovery:
    """Find the books of the session's login and choose one: the URL if it is a book, else the stored one, else the only
    one, else the provider's default, else the first writable one.

    `has_moved_host`: the stored book is looked for by its path on other hosts. Raises BookGoneError if the stored book
    is not found, since another one must not silently take its place; LoginRefusedError at the first 401; if nothing is
    found, the first error that came up, or NotCardDavError.
    """
    session.is_discovering = True
    try:
        probed = _search(session, provider)
    finally:
        session.is_discovering = False
    return Discovery(
        _choose_book(probed, provider, stored, has_moved_host=has_moved_host),
        tuple(probed.books),
        probed.principal_url,
        tuple(probed.home_urls),
    )


def _search(session: DavSession, provider: str | None) -> _ProbeResult:
    is_domain = "://" not in session.login.url
    seen: set[str] = set()
    unreachable: set[object] = set()
    failures: list[CardDavError] = []
    has_answered = False
    for url in _candidate_urls(session, provider):
        if url in seen or origin(url) in unreachable:
            continue
        seen.add(url)
        try:
            probed = _probe(session, url)
        except LoginRefusedError:
            # No other candidate is tried: repeated failures lock accounts.
            raise
        except AccessDeniedError as error:
            # Once the server has answered the login, a 403 for a guessed path means nothing (Radicale).
            failures += [] if has_answered else [error]
        except NotCardDavError:
            continue
        except CardDavError as error:
            if not is_domain:
                raise  # every other candidate is on the same host
            failures.append(error)
            unreachable.add(origin(url))
        else:
            if probed.books:
                return probed
            has_answered = True
    raise _choose_failure(session, failures)


def _choose_failure(session: DavSession, failures: list[CardDavError]) -> CardDavError:
    """The error to report: that an address may not be called tells more than that a name does not resolve."""
    refused = next((error for error in failures if isinstance(error, PolicyError)), session.refused)
    return refused or next(iter(failures), None) or NotCardDavError(_NO_BOOK)


def _candidate_urls(session: DavSession, provider: str | None) -> Iterator[str]:
    """The URLs to probe in this order: the given one, well-known, the root, known paths, and the DNS records of the
    domain."""
    typed = session.login.url
    first = normalize_server_url(typed)
    split = urlsplit(first)
    root = f"{split.scheme}://{split.netloc}"
    yield first
    yield from _well_known_urls(session, root)
    yield f"{root}/"
    paths = sorted(_KNOWN_PATHS, key=lambda name: name != provider)
    # The server may be installed below the folder that the user has entered.
    for folder in dict.fromkeys([split.path.rstrip("/") + "/", "/"]):
        yield from (f"{root}{folder}{_KNOWN_PATHS[name]}" for name in paths)
    if "://" not in typed:
        for service in find_services(split.hostname or ""):
            session.trust(service.url)
            if not service.has_path:
                yield from _well_known_urls(session, service.url.rstrip("/"))
            yield service.url


def _well_known_urls(session: DavSession, root: str) -> Iterator[str]:
    """The well-known URI, which usually redirects a PROPFIND; then the target to which it redirects a GET."""
    url = root + WELL_KNOWN
    yield url
    try:
        with session.response("GET", url) as response:
            target = response.url
    except PolicyError as error:
        session.refused = session.refused or error
        return
    except CardDavError:
        return
    if target != url:
        yield target


def _probe(session: DavSession, url: str) -> _ProbeResult:
    """Find the books behind one URL, which may be a book, a home set or a principal."""
    probed = _ProbeResult()
    response, final = _propfind(session, url)
    if response.has_type(request_bodies.BOOK_TYPE):
        probed.principal_url = _parse_principal(session, final, response)
        probed.books.append(request_bodies.parse_book(session, final, response))
        return probed
    homes = _parse_homes(session, final, response)
    probed.principal_url = _parse_principal(session, final, response)
    if not homes and probed.principal_url and href_key(probed.principal_url) != href_key(final):
        session.trust(probed.principal_url)
        response, final = _propfind(session, probed.principal_url)
        homes = _parse_homes(session, final, response)
    # A server without principals has its books below the URL itself.
    failure: NotCardDavError | AccessDeniedError | None = None
    for home in homes or [final]:
        session.trust(home)
        try:
            probed.books += _list_books(session, home)
        except (NotCardDavError, AccessDeniedError) as error:  # another home set may have books
            failure = error
    if failure is not None and not probed.books:
        raise failure
    probed.home_urls = homes
    return probed


def _propfind(session: DavSession, url: str) -> tuple[Response, str]:
    """The properties of a URL, and the URL after redirects."""
    try:
        found, final = _request_first(session, url, request_bodies.PROPFIND_DISCOVERY)
    except StatusError as error:
        if error.status != 500:
            raise
        # Some servers answer 500 to a property that they do not know.
        found, final = _request_first(session, url, request_bodies.PROPFIND_MINIMAL)
    if found is None or (found.status and found.status >= 400):
        raise NotCardDavError
    principal = found.props.get(f"{DAV}current-user-principal")
    if principal is not None and principal.find(f"{DAV}unauthenticated") is not None:
        raise LoginRefusedError
    return found, final


def _request_first(session: DavSession, url: str, body: str) -> tuple[Response | None, str]:
    with session.multistatus("PROPFIND", url, body, "0") as (final, responses):
        return next(iter(responses), None), final


def _parse_principal(session: DavSession, base_url: str, response: Response) -> str:
    holder = response.props.get(f"{DAV}current-user-principal")
    href = holder.text_of(f"{DAV}href") if holder else ""
    return session.resolve_href(base_url, href) if href else ""


def _parse_homes(session: DavSession, base_url: str, response: Response) -> list[str]:
    holder = response.props.get(f"{CARD}addressbook-home-set")
    hrefs = [child.text.strip() for child in holder.find_all(f"{DAV}href")] if holder else []
    return [session.resolve_href(base_url, href) for href in hrefs if href]


def _list_books(session: DavSession, home: str) -> list[FoundBook]:
    try:
        return _request_books(session, home, request_bodies.PROPFIND_BOOK)
    except StatusError as error:
        if error.status != 500:
            raise
        return _request_books(session, home, request_bodies.PROPFIND_MINIMAL)


def _request_books(session: DavSession, home: str, body: str) -> list[FoundBook]:
    with session.multistatus("PROPFIND", home, body, "1") as (final, responses):
        found = [
            request_bodies.parse_book(session, final, response)
            for response in responses
            if response.has_type(request_bodies.BOOK_TYPE)
        ]
    for book in found:
        session.trust(book.url)
    return found


def _choose_book(probed: _ProbeResult, provider: str | None, stored: str, *, has_moved_host: bool) -> FoundBook:
    books = probed.books
    if stored:
        for book in books:
            is_elsewhere = origin(book.url) != origin(stored)
            if is_elsewhere == has_moved_host and _path_key(book) == href_key(stored).rstrip("/"):
                return book
        raise BookGoneError
    default = _DEFAULT_BOOKS.get(provider or "", "")
    named = [book for book in books if default and _path_key(book).endswith(f"/{default}")]
    writable = [book for book in books if book.caps.writable]
    return [*named, *writable, *books][0]


def _path_key(book: FoundBook) -> str:
    return href_key(book.url).rstrip("/")


log = logging.getLogger(__name__)
DNS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """A server named by the domain, always over https; `has_path` if a TXT record has its path."""

    url: str
    has_path: bool


def find_services(domain: str) -> list[Service]:
    """The servers by priority; empty if the domain names none or DNS does not answer in time.

    The URLs are untrusted input: the outbound policy decides whether they may be reached.
    """
    name = f"_carddavs._tcp.{domain}"
    records = sorted(_query(name, "SRV"), key=lambda record: (record.priority, -record.weight))
    targets = [(str(record.target).rstrip("."), int(record.port)) for record in records]
    targets = [(host, port) for host, port in targets if host]  # a target of "." means: no such service (RFC 2782)
    path = ""
    if targets:
        texts = [b"".join(record.strings).decode("utf-8", "replace") for record in _query(name, "TXT")]
        path = next((text.removeprefix("path=") for text in texts if text.startswith("path=/")), "")
    return [Service(f"https://{host}:{port}{path or '/'}", bool(path)) for host, port in targets]


def _query(name: str, kind: str) -> list[Any]:
    import dns.exception  # noqa: PLC0415 - few processes ever need a resolver
    import dns.resolver  # noqa: PLC0415 - as above

    try:
        with external_wait():
            return list(dns.resolver.resolve(name, kind, lifetime=DNS_SECONDS))
    except (dns.exception.DNSException, OSError, ValueError) as error:
        log.info("no service record", extra={"kind": kind, "reason": type(error).__name__})
        return []
