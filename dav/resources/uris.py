"""The URIs of DAV, spelled one way everywhere: paths, of which those of collections and principals end with a slash,
and sync-tokens (RFC 6578, 4), which hold the revision up to which the device is told, and the day."""

import datetime as dt
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.feed.cursor import is_of_epoch
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION
from dav.models import MAX_NAME_LENGTH
from dav.preconditions import DavStatusError
from dav.xml import dav

ROOT = "/dav/"
PRINCIPALS, BOOK_HOMES, CALENDAR_HOMES = f"{ROOT}principals/", f"{ROOT}addressbooks/", f"{ROOT}calendars/"
BOOK_NAME, DATES_NAME, KEEP_IN_TOUCH_NAME = "contacts", "dates", "keep-in-touch"
# Beyond the unreserved characters of RFC 3986, what clients leave as it is in names.
_SAFE = "~!$&'()*+,;=:@"
# What most names are: nothing in them is ever encoded.
_PLAIN = re.compile(rf"[A-Za-z0-9._~-]{{1,{MAX_NAME_LENGTH}}}")
_TOKEN = re.compile(r"[a-z]+://[^/]+/dav/sync/([0-9a-f]{32})/([0-9]{1,19})-([0-9]{6,7})(?:-([0-9a-f]{32}))?")


def principal_path(user_id: UUID) -> str:
    return f"{PRINCIPALS}{user_id}/"


def book_home_path(user_id: UUID) -> str:
    return f"{BOOK_HOMES}{user_id}/"


def calendar_home_path(user_id: UUID) -> str:
    return f"{CALENDAR_HOMES}{user_id}/"


def book_path(user_id: UUID) -> str:
    return f"{book_home_path(user_id)}{BOOK_NAME}/"


def calendar_path(user_id: UUID, name: str) -> str:
    return f"{calendar_home_path(user_id)}{name}/"


def member_path(collection: str, name: str) -> str:
    return f"{collection}{name if _PLAIN.fullmatch(name) else quote(name, safe=_SAFE)}"


def is_card_name(name: str) -> bool:
    """Whether a card may have this name. No other is ever looked up: a database may refuse its characters, and programs
    read a path with `.` and `..` as another one (RFC 3986, 5.2.4), however it is encoded."""
    return 0 < len(name) <= MAX_NAME_LENGTH and name.isprintable() and name not in {".", ".."}


@dataclass(frozen=True)
class DavPath:
    """What a path names: its segments behind /dav/, decoded once. An unknown path has a DavPath, too."""

    segments: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.segments[0] if self.segments else ""

    @property
    def user_id(self) -> UUID | None:
        return parse_id(self.segments[1]) if len(self.segments) > 1 else None

    def member_name(self, kind: str, collection: str, owner_id: UUID) -> str | None:
        """The name of the member that this names in a collection of the account; None for any other path."""
        segments = self.segments
        is_inside = len(segments) == 4 and (segments[0], segments[2]) == (kind, collection)
        return segments[3] if is_inside and self.user_id == owner_id else None

    def card_name(self, owner_id: UUID) -> str | None:
        """The name of the card that this names in the account's book; it may be one that no card has."""
        return self.member_name("addressbooks", BOOK_NAME, owner_id)

    def event_name(self, calendar: str, owner_id: UUID) -> str | None:
        """The same for an event or a task of a calendar of the account."""
        return self.member_name("calendars", calendar, owner_id)


def read_path(path: str) -> DavPath | None:
    """The place that a decoded path of a request names, or the path of a URL; None outside of /dav/."""
    if f"{path}/" == ROOT:
        path = ROOT
    if not path.startswith(ROOT):
        return None
    inside = path.removeprefix(ROOT)
    return DavPath(tuple(inside.removesuffix("/").split("/"))) if inside else DavPath(())


def plain_name(collection: str, href: str) -> str | None:
    """The name of a member of a collection, if the href is spelled as this service spells it; else None."""
    name = href.removeprefix(collection)
    return name if len(name) < len(href) and _PLAIN.fullmatch(name) and name not in {".", ".."} else None


def read_href(href: str, hosts: Container[str]) -> DavPath | None:
    """The place that an href of a body or header names: a path or a URL, percent-encoded in any way; None for one of
    another host."""
    try:
        if names_another_host(href, hosts):
            return None
        return read_path(unquote_to_bytes(urlsplit(href.strip()).path).decode())
    except ValueError:
        return None


def names_another_host(href: str, hosts: Container[str]) -> bool:
    """Whether an href is the URL of another host than `hosts`, the names of this service.

    Scheme and port are not compared: behind a proxy with TLS they are others than those that the client sees.
    """
    try:
        url = urlsplit(href.strip())
        return bool(url.netloc) and (url.hostname or "") not in hosts
    except ValueError:
        return False  # no URL at all


class Position(NamedTuple):
    """How far a device was told: everything up to `revision`, and in the next one the cards up to `card_id`.

    `card_id` is None except in a listing that was cut by a limit. `day`, the ordinal of a date, is that of the token;
    of a position that is still to be encoded it may be None: today.
    """

    revision: int
    card_id: UUID | None = None
    day: int | None = None


def encode_token(owner_id: UUID, position: Position) -> str:
    # A URI with a slash: some clients take any other text for a ctag, and then list everything at each sync.
    tail = f"-{position.card_id.hex}" if position.card_id else ""
    day = timezone.now().date().toordinal() if position.day is None else position.day
    return f"{settings.BASE_URL}/dav/sync/{owner_id.hex}/{position.revision}-{day}{tail}"


def read_token(token: str, *, owner_id: UUID, newest: int, user_agent: str) -> Position:
    """The position of a token. Raises DavStatusError (`valid-sync-token`) for one that is foreign, made up or too old.

    `newest`: the account's revision. Thunderbird never syncs a book again after 403, so it gets 400.
    """
    found = _TOKEN.fullmatch(token.strip())
    today = timezone.now().date().toordinal()
    # The calendars' days are those of the account's zone, where it may be tomorrow.
    days = range(today - TOMBSTONE_RETENTION // dt.timedelta(days=1), today + 2)
    if found is None or found[1] != owner_id.hex or not is_of_epoch(int(found[2]), newest) or int(found[3]) not in days:
        status = 400 if "Thunderbird/" in user_agent else 403
        raise DavStatusError(status, dav("valid-sync-token"), "This sync-token is not valid any more: list everything.")
    return Position(int(found[2]), UUID(found[4]) if found[4] else None, int(found[3]))
