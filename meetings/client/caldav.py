"""The calendars of a CalDAV server (RFC 4791), by the WebDAV client of the kernel."""

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import UUID

from contacts_project.kernel.webdav.collection import UNSUPPORTED_REPORT_STATUSES
from contacts_project.kernel.webdav.discovery import find_collections
from contacts_project.kernel.webdav.errors import DavError, StatusError
from contacts_project.kernel.webdav.hrefs import MAX_URL_LENGTH, href_key, normalize_server_url, origin
from contacts_project.kernel.webdav.kinds import CollectionKind
from contacts_project.kernel.webdav.listing import ListedCollection
from contacts_project.kernel.webdav.login import Login as DavLogin
from contacts_project.kernel.webdav.multistatus import Response
from contacts_project.kernel.webdav.request_bodies import xmlns
from contacts_project.kernel.webdav.session import DavSession, open_session
from contacts_project.kernel.webdav.shapes import FoundCollection, Resource, Unreadable
from meetings.calendars.parser import MAX_EVENTS
from meetings.client.download import MAX_BYTES, TOTAL_SECONDS, Login, Reading, request_url
from meetings.errors import CalendarError, convert_dav_error, text_of

MAX_CALENDARS = 100
_QUERY = "calendar-query"
_DAY = dt.timedelta(days=1)
_CAL = "{urn:ietf:params:xml:ns:caldav}"


def _has_events(response: Response) -> bool:
    """True if the server does not say which components a calendar has."""
    holder = response.props.get(f"{_CAL}supported-calendar-component-set")
    names = {child.attributes.get("name", "") for child in holder.children} if holder else set()
    return not names or "VEVENT" in names


CALENDARS = CollectionKind(
    namespace="urn:ietf:params:xml:ns:caldav",
    resource_type="calendar",
    home_set="calendar-home-set",
    multiget="calendar-multiget",
    data="calendar-data",
    media_type="text/calendar",
    well_known="/.well-known/caldav",
    service="_caldavs._tcp",
    gone=text_of("not_calendar"),
    moved=text_of("redirect"),
    other_type=text_of("not_calendar"),
    none_found=text_of("not_calendar"),
    nothing_listed=text_of("not_calendar"),
    too_many=text_of("too_large"),
    max_members=MAX_EVENTS,
    foreign_types=("text/vcard",),
    properties="<C:supported-calendar-component-set/>",
    accepts=_has_events,
)


class Calendar(ListedCollection):
    """One calendar. All methods raise DavError."""

    kind = CALENDARS

    def validator(self, known: str) -> tuple[str, bool]:
        """What changes with every change of the calendar, empty if the server has nothing of the kind; and whether it
        is still as it was when its validator was `known`."""
        if known.startswith("sync:") and (listing := self.sync(known.removeprefix("sync:"))) is not None:
            return _bounded_validator("sync:", listing.token), listing.is_unchanged
        token, ctag = self.fetch_state()
        found = _bounded_validator("sync:", token) or _bounded_validator("ctag:", ctag)
        return found, bool(found) and found == known

    def read(self, since: dt.datetime) -> Iterator[bytes]:
        """The resources with an event since then; all of them from a server without queries."""
        if self.caps.may_have(_QUERY):
            try:
                yield from self._query(since)
            except StatusError as error:
                if error.status not in UNSUPPORTED_REPORT_STATUSES:
                    raise
                self.record_unsupported_report(_QUERY)
            else:
                return
        yield from self._fetch([entry.href for entry in self.list().changed])

    def _query(self, since: dt.datetime) -> Iterator[bytes]:
        """RFC 4791, section 7.8. From a day before, since the server has a zone of its own for floating times."""
        begin = since - _DAY
        body = (
            f"<C:{_QUERY} {xmlns(self.kind)}><prop><getetag/><C:calendar-data/></prop><C:filter>"
            f'<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">'
            f'<C:time-range start="{begin:%Y%m%dT%H%M%SZ}"/></C:comp-filter></C:comp-filter></C:filter></C:{_QUERY}>'
        )
        missing: list[str] = []
        with self.multistatus("REPORT", body, "1") as responses:
            for response in responses:
                if data := response.text_of(f"{_CAL}calendar-data"):
                    yield data.encode()
                elif response.status in {None, 200} and not response.href.endswith("/"):
                    missing.append(response.href)
        yield from self._fetch(missing[:MAX_EVENTS])  # a server that lists a resource without its text

    def _fetch(self, hrefs: Iterable[str]) -> Iterator[bytes]:
        for found in self.fetch(hrefs):
            if isinstance(found, Resource):
                yield found.text.encode()
            elif isinstance(found, Unreadable) and found.status >= 500:
                raise StatusError(found.status)  # for now: without it, its events would look as if they were gone


def _bounded_validator(prefix: str, value: str) -> str:
    return f"{prefix}{value}" if 0 < len(value) <= MAX_URL_LENGTH else ""


def read_calendars(
    login: Login, chosen: list[str] | None, validators: dict[str, str], since: dt.datetime, account: UUID
) -> Reading:
    """The events of the chosen calendars since then. Raises CalendarError."""
    with _session(login, account, TOTAL_SECONDS * 2) as session:
        found = _discover(session)
        calendars = {
            entry["href"]: Calendar(session, collection.url, collection.caps)
            for entry, collection in found
            if is_chosen(entry["href"], chosen)
        }
        if not calendars:
            raise CalendarError("not_calendar")
        shown = [entry for entry, _ in found]
        states = {href: calendar.validator(validators.get(href, "")) for href, calendar in calendars.items()}
        current = {href: validator for href, (validator, _) in states.items() if validator}
        if all(is_unchanged for _, is_unchanged in states.values()) and states.keys() == validators.keys():
            return Reading(None, current, shown)
        files = list(_bounded(data for calendar in calendars.values() for data in calendar.read(since)))
        return Reading(files, current, shown)


def find_calendars(login: Login, account: UUID, *, seconds: float) -> list[dict[str, str]]:
    """The calendars that the login finds, `[{href, name}]`. Raises CalendarError."""
    with _session(login, account, seconds) as session:
        return [entry for entry, _ in _discover(session)]


def is_chosen(href: str, chosen: list[str] | None) -> bool:
    """Whether a calendar is one of the chosen ones, however their hrefs are spelled; None are all."""
    return chosen is None or _key(href) in map(_key, chosen)


def _key(href: str) -> str:
    return href if "://" in href else href_key(href).rstrip("/")


@contextmanager
def _session(login: Login, account: UUID, seconds: float) -> Iterator[DavSession]:
    """The session of a reading, whose errors become CalendarError. The login goes to no other origin."""
    try:
        with open_session(
            DavLogin(request_url(login.url), login.username, login.password),
            seconds=seconds,
            account=account,
            login_stays=True,
        ) as session:
            yield session
    except DavError as error:
        raise convert_dav_error(error) from error


def _discover(session: DavSession) -> list[tuple[dict[str, str], FoundCollection]]:
    """The calendars with events as answers show them, `{href, name}`, and as they were found."""
    found = find_collections(session, CALENDARS).collections[:MAX_CALENDARS]
    here = origin(normalize_server_url(session.login.url))
    return [
        # On the address's own host the path alone; else the whole, so that the two stay apart.
        ({"href": urlsplit(row.url).path if origin(row.url) == here else row.url, "name": row.name}, row)
        for row in found
    ]


def _bounded(files: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for data in files:
        size += len(data)
        if size > MAX_BYTES:
            raise CalendarError("too_large")
        yield data
