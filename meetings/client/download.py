"""A calendar's file by GET: at most five redirects, each checked, and a login that stays with its origin."""

import re
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import urljoin
from uuid import UUID

from contacts_project.kernel.outbound.exchanges import AccountBusyError, ExchangeRules
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.policy import Schemes
from contacts_project.kernel.outbound.session import OutboundResponse, OutboundSession, outbound_session
from contacts_project.kernel.webdav.errors import DavError
from contacts_project.kernel.webdav.hrefs import origin
from meetings.errors import CalendarError, convert_outbound_error, status_error

MAX_BYTES = 10 * 1024 * 1024
TOTAL_SECONDS, CONNECT_SECONDS, IDLE_SECONDS = 60.0, 10.0, 20.0
_MAX_REDIRECTS = 5
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_WEBCAL = re.compile(r"webcals?:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Login:
    """Where a calendar is, and as whom it is read."""

    url: str
    username: str = ""
    password: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a server answers. `files` is None if nothing has changed; `validators` are for the next reading.

    `calendars` are those of a CalDAV server, `[{href, name}]`.
    """

    files: list[bytes] | None
    validators: dict[str, str]
    calendars: list[dict[str, str]] = field(default_factory=list)


def request_url(url: str) -> str:
    """The URL that is asked: `webcal:` is read as https."""
    return _WEBCAL.sub("https:", url.strip(), count=1)


def download(login: Login, validators: dict[str, str], account: UUID, *, seconds: float = TOTAL_SECONDS) -> Reading:
    """Read the file, unless it still has its ETag. Raises CalendarError."""
    try:
        with outbound_session(
            schemes=Schemes.HTTP_OR_HTTPS,
            seconds=seconds,
            connect_seconds=CONNECT_SECONDS,
            idle_seconds=min(IDLE_SECONDS, seconds),
            exchanges=ExchangeRules(account, min(IDLE_SECONDS, seconds)),
        ) as session:
            return _follow(session, login, validators)
    except OutboundError as error:
        raise convert_outbound_error(error) from error
    except AccountBusyError as error:
        raise CalendarError("busy") from error


def _follow(session: OutboundSession, login: Login, validators: dict[str, str]) -> Reading:
    url = first = request_url(login.url)
    for _ in range(_MAX_REDIRECTS + 1):
        headers = {"Accept": "text/calendar, */*;q=0.1", "Accept-Encoding": "gzip"}
        if etag := validators.get("etag"):
            headers["If-None-Match"] = etag
        if (login.username or login.password) and origin(url) == origin(first):
            pair = b64encode(f"{login.username}:{login.password}".encode()).decode()
            headers["Authorization"] = f"Basic {pair}"
        with session.open("GET", url, headers=headers) as response:
            if response.status in _REDIRECT_STATUSES:
                url = _target(url, response.headers.get("Location"))
                continue
            return _read(response, validators)
    raise CalendarError("redirect")


def _target(url: str, location: str | None) -> str:
    """Never from https to http: the address may be a secret."""
    try:
        target = request_url(urljoin(url, location or ""))
        schemes = (origin(url)[0], origin(target)[0])
    except (ValueError, DavError):
        raise CalendarError("redirect") from None
    if not location or schemes[1] not in {"http", "https"} or schemes == ("https", "http"):
        raise CalendarError("redirect")
    return target


def _read(response: OutboundResponse, validators: dict[str, str]) -> Reading:
    if response.status == 304 and validators:
        return Reading(None, validators)
    if response.status != 200:
        raise status_error(response.status)
    if int(length) > MAX_BYTES if (length := response.headers.get("Content-Length", "")).isdecimal() else False:
        raise CalendarError("too_large")
    etag = response.headers.get("ETag", "")
    return Reading([response.read(MAX_BYTES)], {"etag": etag} if 0 < len(etag) <= 500 else {})
