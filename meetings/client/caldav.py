"""The calendars of a CalDAV server (RFC 4791), by the session of kernel.webdav.

Discovery as in RFC 6764 and 5397: the address itself, the well-known URI, the principal, its calendar home. Whether
anything has changed is asked by `sync-collection` (RFC 6578) where the server has it, else by the ctag.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit
from uuid import UUID
from xml.sax.saxutils import escape

from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    DavError,
    LoginRefusedError,
    NotDavError,
    StatusError,
)
from contacts_project.kernel.webdav.hrefs import href_key, member_url, normalize_server_url, origin
from contacts_project.kernel.webdav.login import Login as DavLogin
from contacts_project.kernel.webdav.multistatus import CALENDARSERVER, DAV, Response
from contacts_project.kernel.webdav.session import DavSession, open_session
from meetings.calendars.parser import MAX_EVENTS
from meetings.client.download import MAX_BYTES, TOTAL_SECONDS, Login, Reading
from meetings.errors import CalendarError, convert_dav_error

CAL = "{urn:ietf:params:xml:ns:caldav}"
MAX_CALENDARS = 100
_XMLNS = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/"'
_PROPFIND = (
    f"<propfind {_XMLNS}><prop><resourcetype/><displayname/><current-user-principal/><C:calendar-home-set/>"
    "<C:supported-calendar-component-set/></prop></propfind>"
)
_PROPFIND_CTAG = f"<propfind {_XMLNS}><prop><CS:getctag/><sync-token/></prop></propfind>"


def read_calendars(
    login: Login, chosen: list[str] | None, validators: dict[str, str], since: dt.datetime, account: UUID
) -> Reading:
    """The events of the chosen calendars since then. Raises CalendarError."""
    with _session(login, account, TOTAL_SECONDS * 2) as session:
        calendars = _discover(session)
        keys = None if chosen is None else {href_key(href) for href in chosen}
        read = [entry for entry in calendars if keys is None or href_key(entry["href"]) in keys]
        if not read:
            raise CalendarError("not_calendar")
        found = {entry["href"]: _token(session, entry["url"], validators.get(entry["href"], "")) for entry in read}
        shown = [{"href": entry["href"], "name": entry["name"]} for entry in calendars]
        if all(token and token == validators.get(href) for href, token in found.items()) and len(found) == len(
            validators
        ):
            return Reading(None, validators, shown)
        files = list(_bounded(data for entry in read for data in _query(session, entry["url"], since)))
        return Reading(files, {href: token for href, token in found.items() if token}, shown)


def find_calendars(login: Login, account: UUID, *, seconds: float) -> list[dict[str, str]]:
    """The calendars that the login finds, `[{href, name}]`. Raises CalendarError."""
    with _session(login, account, seconds) as session:
        return [{"href": entry["href"], "name": entry["name"]} for entry in _discover(session)]


class _session:  # noqa: N801 - a context manager
    """The session of kernel.webdav, whose errors become CalendarError."""

    def __init__(self, login: Login, account: UUID, seconds: float) -> None:
        self._opened = open_session(
            DavLogin(login.url.strip(), login.username, login.password), seconds=seconds, account=account
        )

    def __enter__(self) -> DavSession:
        return self._opened.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self._opened.__exit__(kind, error, None)
        except DavError as failed:
            raise convert_dav_error(failed) from failed
        if isinstance(error, DavError):
            raise convert_dav_error(error) from error


def _discover(session: DavSession) -> list[dict[str, str]]:
    """The calendars with events: href, name and url. Raises DavError."""
    first = normalize_server_url(session.login.url)
    root = f"{urlsplit(first).scheme}://{urlsplit(first).netloc}"
    failure: DavError | None = None
    session.is_discovering = True
    try:
        for url in dict.fromkeys((first, f"{root}/.well-known/caldav", f"{root}/")):
            try:
                if found := list(_probe(session, url)):
                    return found[:MAX_CALENDARS]
            except LoginRefusedError:
                raise  # no other address is tried: repeated failures lock accounts
            except (NotDavError, AccessDeniedError) as error:
                failure = failure or error
    finally:
        session.is_discovering = False
    raise failure or NotDavError()


def _probe(session: DavSession, url: str) -> Iterator[dict[str, str]]:
    """The calendars behind one URL: a calendar, a home or a principal."""
    response, final = _propfind(session, url)
    if response.has_type(f"{CAL}calendar"):
        yield _entry(session, final, response)
        return
    homes = _hrefs(session, final, response, f"{CAL}calendar-home-set")
    principals = _hrefs(session, final, response, f"{DAV}current-user-principal")
    if not homes and principals:
        session.trust(principals[0])
        response, final = _propfind(session, principals[0])
        homes = _hrefs(session, final, response, f"{CAL}calendar-home-set")
    for home in homes or [final]:
        session.trust(home)
        with session.multistatus("PROPFIND", home, _PROPFIND, "1") as (base, responses):
            for member in responses:
                if member.has_type(f"{CAL}calendar") and _has_events(member):
                    yield _entry(session, base, member)


def _propfind(session: DavSession, url: str) -> tuple[Response, str]:
    with session.multistatus("PROPFIND", url, _PROPFIND, "0") as (final, responses):
        found = next(iter(responses), None)
    if found is None or (found.status and found.status >= 400):
        raise NotDavError
    return found, final


def _hrefs(session: DavSession, base: str, response: Response, name: str) -> list[str]:
    holder = response.props.get(name)
    hrefs = [child.text.strip() for child in holder.find_all(f"{DAV}href")] if holder else []
    return [session.resolve_href(base, href) for href in hrefs if href]


def _has_events(response: Response) -> bool:
    """True if the server does not say which components a calendar has."""
    holder = response.props.get(f"{CAL}supported-calendar-component-set")
    names = {child.attributes.get("name", "") for child in holder.children} if holder else set()
    return not names or "VEVENT" in names


def _entry(session: DavSession, base: str, response: Response) -> dict[str, str]:
    url = session.resolve_href(base, response.href)
    session.trust(url)
    name = response.text_of(f"{DAV}displayname") or url.rstrip("/").rpartition("/")[2]
    # On the address's own host the path alone; else the whole, so that the two stay apart.
    is_here = origin(url) == origin(normalize_server_url(session.login.url))
    return {"href": urlsplit(url).path if is_here else url, "name": name[:255], "url": url}


def _token(session: DavSession, url: str, known: str) -> str:
    """What changes with every change of the calendar; empty if the server has nothing of the kind."""
    if known.startswith("sync:"):
        try:
            return (
                known if not _has_changed(session, url, known.removeprefix("sync:")) else _propfind_token(session, url)
            )
        except (StatusError, AccessDeniedError, NotDavError):  # the token has expired
            pass
    return _propfind_token(session, url)


def _propfind_token(session: DavSession, url: str) -> str:
    with session.multistatus("PROPFIND", url, _PROPFIND_CTAG, "0") as (_, responses):
        found = next(iter(responses), None)
    if found is None:
        return ""
    sync, ctag = found.text_of(f"{DAV}sync-token"), found.text_of(f"{CALENDARSERVER}getctag")
    return (f"sync:{sync}" if sync else f"ctag:{ctag}" if ctag else "")[:2000]


def _has_changed(session: DavSession, url: str, token: str) -> bool:
    body = (
        f"<sync-collection {_XMLNS}><sync-token>{escape(token)}</sync-token><sync-level>1</sync-level>"
        "<prop><getetag/></prop></sync-collection>"
    )
    with session.multistatus("REPORT", url, body, "0") as (_, responses):
        return any(href_key(response.href, url) != href_key(url) for response in responses)


def _query(session: DavSession, url: str, since: dt.datetime) -> Iterator[bytes]:
    """The resources with an event since then (RFC 4791, section 7.8)."""
    body = (
        f"<C:calendar-query {_XMLNS}><prop><getetag/><C:calendar-data/></prop><C:filter>"
        f'<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">'
        f'<C:time-range start="{since:%Y%m%dT%H%M%SZ}"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>'
    )
    missing: list[str] = []
    with session.multistatus("REPORT", url, body, "1") as (_, responses):
        for response in responses:
            if data := response.text_of(f"{CAL}calendar-data"):
                yield data.encode()
            elif response.status in {None, 200} and not response.href.endswith("/"):
                missing.append(response.href)
    for href in missing[:MAX_EVENTS]:  # a server that lists a resource without its text
        with session.response("GET", member_url(url, href)) as one:
            if one.status == 200:
                yield one.read(MAX_BYTES)


def _bounded(files: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for data in files:
        size += len(data)
        if size > MAX_BYTES:
            raise CalendarError("too_large")
        yield data
