"""Discovers the collections of a kind behind the address that a user has entered (RFC 6764, RFC 5397, RFC 6352 section
7.1, RFC 4791 section 6.2)."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.webdav import request_bodies
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    DavError,
    LoginRefusedError,
    NoCollectionError,
    NotDavError,
    PolicyError,
    StatusError,
)
from contacts_project.kernel.webdav.hrefs import href_key, normalize_server_url, origin
from contacts_project.kernel.webdav.kinds import CollectionKind
from contacts_project.kernel.webdav.multistatus import DAV, Response
from contacts_project.kernel.webdav.session import DavSession
from contacts_project.kernel.webdav.shapes import FoundCollection

log = logging.getLogger(__name__)
DNS_SECONDS = 5.0
# Paths of servers without a well-known URI; the one of the user's provider is tried first.
_KNOWN_PATHS = {"nextcloud": "remote.php/dav/", "baikal": "dav.php/", "sogo": "SOGo/dav/", "davical": "caldav.php/"}


@dataclass(slots=True)
class Found:
    """The collections, with the principal and home sets if the server has them."""

    principal_url: str = ""
    home_urls: list[str] = field(default_factory=list)
    collections: list[FoundCollection] = field(default_factory=list)


def find_collections(session: DavSession, kind: CollectionKind, *, provider: str | None = None) -> Found:
    """The collections of the session's login: those of the first address that leads to any.

    Raises LoginRefusedError at the first 401; if nothing is found, the first error that came up, or NoCollectionError.
    """
    session.is_discovering = True
    try:
        return _search(session, kind, provider)
    finally:
        session.is_discovering = False


def _search(session: DavSession, kind: CollectionKind, provider: str | None) -> Found:
    is_domain = "://" not in session.login.url
    seen: set[str] = set()
    unreachable: set[object] = set()
    failures: list[DavError] = []
    first: NotDavError | None = None
    has_answered = False
    for url in _candidate_urls(session, kind, provider):
        if url in seen or origin(url) in unreachable:
            continue
        seen.add(url)
        try:
            found = _probe(session, kind, url)
        except LoginRefusedError:
            # No other candidate is tried: repeated failures lock accounts.
            raise
        except AccessDeniedError as error:
            # Once the server has answered the login, a 403 for a guessed path means nothing (Radicale).
            failures += [] if has_answered else [error]
        except NotDavError as error:
            first = first or (None if has_answered else error)
        except DavError as error:
            if not is_domain:
                raise  # every other candidate is on the same host
            failures.append(error)
            unreachable.add(origin(url))
        else:
            if found.collections:
                return found
            has_answered = True
    # That an address may not be called tells more than that a name does not resolve.
    refused = next((error for error in failures if isinstance(error, PolicyError)), session.refused)
    raise refused or next(iter(failures), None) or NoCollectionError(kind.none_found, first)


def _candidate_urls(session: DavSession, kind: CollectionKind, provider: str | None) -> Iterator[str]:
    """The URLs to probe in this order: the given one, well-known, the root, known paths, and the DNS records of the
    domain."""
    typed = session.login.url
    first = normalize_server_url(typed)
    split = urlsplit(first)
    root = f"{split.scheme}://{split.netloc}"
    yield first
    yield from _well_known_urls(session, root + kind.well_known)
    yield f"{root}/"
    paths = sorted(_KNOWN_PATHS, key=lambda name: name != provider)
    # The server may be installed below the folder that the user has entered.
    for folder in dict.fromkeys([split.path.rstrip("/") + "/", "/"]):
        yield from (f"{root}{folder}{_KNOWN_PATHS[name]}" for name in paths)
    if "://" not in typed:
        for service in find_services(f"{kind.service}.{split.hostname or ''}"):
            session.trust(service.url)
            if not service.has_path:
                yield from _well_known_urls(session, service.url.rstrip("/") + kind.well_known)
            yield service.url


def _well_known_urls(session: DavSession, url: str) -> Iterator[str]:
    """The well-known URI, which usually redirects a PROPFIND; then the target to which it redirects a GET."""
    yield url
    try:
        with session.response("GET", url) as response:
            target = response.url
    except PolicyError as error:
        session.refused = session.refused or error
        return
    except DavError:
        return
    if target != url:
        yield target


def _probe(session: DavSession, kind: CollectionKind, url: str) -> Found:
    """Find the collections behind one URL, which may be a collection, a home set or a principal."""
    found = Found()
    response, final = _propfind(session, kind, url)
    found.principal_url = _parse_principal(session, final, response)
    if response.has_type(kind.tag(kind.resource_type)):
        found.collections.append(request_bodies.parse_collection(session, final, response))
        return found
    homes = _parse_homes(session, kind, final, response)
    if not homes and found.principal_url and href_key(found.principal_url) != href_key(final):
        session.trust(found.principal_url, final)
        response, final = _propfind(session, kind, found.principal_url)
        homes = _parse_homes(session, kind, final, response)
    # A server without principals has its collections below the URL itself.
    failure: NotDavError | AccessDeniedError | None = None
    for home in homes or [final]:
        session.trust(home, final)
        try:
            found.collections += _list_collections(session, kind, home)
        except (NotDavError, AccessDeniedError) as error:  # another home set may have collections
            failure = error
    if failure is not None and not found.collections:
        raise failure
    found.home_urls = homes
    return found


def _propfind(session: DavSession, kind: CollectionKind, url: str) -> tuple[Response, str]:
    """The properties of a URL, and the URL after redirects."""
    try:
        found, final = _request_first(session, url, request_bodies.propfind_discovery(kind))
    except StatusError as error:
        if error.status != 500:
            raise
        # Some servers answer 500 to a property that they do not know.
        found, final = _request_first(session, url, request_bodies.propfind_minimal(kind))
    if found is None or (found.status and found.status >= 400):
        raise NotDavError
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


def _parse_homes(session: DavSession, kind: CollectionKind, base_url: str, response: Response) -> list[str]:
    holder = response.props.get(kind.tag(kind.home_set))
    hrefs = [child.text.strip() for child in holder.find_all(f"{DAV}href")] if holder else []
    return [session.resolve_href(base_url, href) for href in hrefs if href]


def _list_collections(session: DavSession, kind: CollectionKind, home: str) -> list[FoundCollection]:
    try:
        return _request_collections(session, kind, home, request_bodies.propfind_collection(kind))
    except StatusError as error:
        if error.status != 500:
            raise
        return _request_collections(session, kind, home, request_bodies.propfind_minimal(kind))


def _request_collections(session: DavSession, kind: CollectionKind, home: str, body: str) -> list[FoundCollection]:
    with session.multistatus("PROPFIND", home, body, "1") as (final, responses):
        found = [
            request_bodies.parse_collection(session, final, response)
            for response in responses
            if response.has_type(kind.tag(kind.resource_type)) and (kind.accepts is None or kind.accepts(response))
        ]
    for collection in found:
        session.trust(collection.url, final)
    return found


@dataclass(frozen=True, slots=True)
class Service:
    """A server named by the domain, always over https; `has_path` if a TXT record has its path."""

    url: str
    has_path: bool


def find_services(name: str) -> list[Service]:
    """The servers of a name such as `_carddavs._tcp.example.org`, by priority; empty if there are none or DNS does not
    answer in time.

    The URLs are untrusted input: the outbound policy decides whether they may be reached.
    """
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
