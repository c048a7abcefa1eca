"""HTTP Basic with an API token as the password (RFC 7617; open points, section 14): an app password."""

import base64
import binascii
import datetime as dt
import re
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.services.tokens import is_token_text, token_in_use
from accounts.vocabularies import TokenScope
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.sqlite3 import skip_if_locked
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.text_forms import fold_email
from dav.models import Book, Device, ListedAgain, Refusal, UnreadTask
from dav.preconditions import DavStatusError

CHALLENGE = 'Basic realm="Contact network: your e-mail address and an app password", charset="UTF-8"'
# Passwords that are no tokens: whoever knows an account's own password by guessing gets nowhere here, but should not be
# able to try it at full speed either.
UNKNOWN_PASSWORDS = RateLimit("dav-password", 30, 3600)


class BookColumns(NamedTuple):
    """The columns of an account's book that its requests need."""

    read_revision: int
    changed_revision: int
    plain_changed_revision: int
    calendars_revision: int
    dates_revision: int
    tasks_revision: int


class DeviceColumns(NamedTuple):
    """The columns of a device that its requests need."""

    last_seen_at: dt.datetime
    user_agent: str
    sent_properties: list[str]
    selected_by: JsonObject | None
    selection_revision: int
    selection_changed_revision: int


@dataclass(frozen=True)
class Credentials:
    """A program that asks with an app password: its account and its token."""

    owner: User
    token: ApiToken
    book: BookColumns | None = None
    """The account's book as it was read together with the token; None if there is none yet."""
    listed_again_revision: int = 0
    """The latest revision at which the device was told of a card again (ListedAgain), 0 if it has none of these."""
    user_agent: str = ""
    row: DeviceColumns | None = None
    """What is stored of the device, as it was read together with the token; None at its first request."""
    has_refusals: bool = True
    """Whether there are any rows of Refusal of the device."""
    has_unread_tasks: bool = False
    """Whether there are any rows of UnreadTask of the device."""
    hosts: frozenset[str] = frozenset()
    """The names under which the service is known to it: an href with another host names nothing here."""

    @property
    def is_read_only(self) -> bool:
        return bool(self.token.scope == TokenScope.READ)

    def is_revoked(self) -> bool:
        """Whether its password was revoked since the request began. Lasts while the account is locked."""
        return not ApiToken.objects.owned_by(self.owner).filter(pk=self.token.pk).exists()

    @property
    def has_group_cards(self) -> bool:
        """Whether groups are cards of their own for it; else they are CATEGORIES of the people's cards."""
        token = self.token
        return bool(token.group_cards) if token.group_cards is not None else is_of_apple(self.user_agent)


# Contacts of iOS and of the Mac, and the services that add an account or sync it.
_APPLE_PROGRAMS = re.compile(
    r"^(?:iOS|iPadOS|macOS|Mac OS X|Mac\+OS\+X|watchOS|visionOS)/|\b(?:accountsd|dataaccessd|AddressBook(?:Core)?|"
    r"AddressBookSourceSync|CalendarAgent|remindd)/"
)
_SEEN_RESOLUTION = dt.timedelta(minutes=1)
_MAX_USER_AGENT = 200


def is_of_apple(user_agent: str) -> bool:
    """Whether a program is Apple's, which know groups only as cards."""
    return _APPLE_PROGRAMS.search(user_agent) is not None


_FLAGS: dict[str, Any] = {"has_refusals": Refusal, "has_unread_tasks": UnreadTask}
# What they are read from: columns beside those of the token.
_book_values = attrgetter(*(f"book_{name}" for name in BookColumns._fields))
_device_values = attrgetter(*(f"device_{name}" for name in DeviceColumns._fields))


class UnauthorizedError(DavStatusError):
    """No credentials, or none that are good here."""

    def __init__(self) -> None:
        super().__init__(401, words="Sign in with your e-mail address and an app password (an API token).")


def authenticate(request: HttpRequest) -> Credentials:
    """The device that asks. Raises UnauthorizedError, RateLimitedError.

    A request without credentials counts nowhere, since phones begin every connection with one; nor does a token that
    was revoked or has expired, which an old phone may send for ever. Only other passwords count against a rate limit.
    """
    login = _read_login(request.headers.get("Authorization", ""))
    if login is None:
        raise UnauthorizedError
    name, password = login
    if not is_token_text(password):
        UNKNOWN_PASSWORDS.hit(address_block(client_address(request)))
        raise UnauthorizedError
    token = token_in_use(text=password, now=timezone.now(), find=_find_token)
    if token is None or not _is_name_of(name, token.owner):
        raise UnauthorizedError
    agent = request.headers.get("User-Agent", "")
    listed_again: int = token.listed_again_revision or 0  # type: ignore[attr-defined]
    flags: dict[str, Any] = {name: getattr(token, name) for name in _FLAGS}
    book = None if token.book_read_revision is None else BookColumns._make(_book_values(token))  # type: ignore[attr-defined]
    row = None if token.device_last_seen_at is None else DeviceColumns._make(_device_values(token))  # type: ignore[attr-defined]
    device = Credentials(token.owner, token, book, listed_again, agent, row, **flags, hosts=own_hosts(request))
    _record_visit(device)
    return device


@compiled_query
def _token_with_book(digest: str) -> Rows:
    books = Book.unscoped.rows().filter(owner=OuterRef("owner"))
    again = ListedAgain.unscoped.rows().filter(token=OuterRef("pk")).order_by("-revision").values("revision")[:1]
    devices = Device.unscoped.rows().filter(token=OuterRef("pk"))
    columns = {f"book_{name}": Subquery(books.values(name)[:1]) for name in BookColumns._fields}
    columns |= {f"device_{name}": Subquery(devices.values(name)[:1]) for name in DeviceColumns._fields}
    rows = ApiToken.unscoped.select_related("owner").filter(digest=digest, owner__is_active=True)
    columns |= {name: Exists(model.unscoped.rows().filter(token=OuterRef("pk"))) for name, model in _FLAGS.items()}
    return rows.annotate(**columns, listed_again_revision=Subquery(again))


def own_hosts(request: HttpRequest) -> frozenset[str]:
    """The names of this service: the host of BASE_URL, and the one that the request was sent to."""
    urls = (settings.BASE_URL, f"//{request.get_host()}")
    return frozenset(urlsplit(url).hostname or "" for url in urls)


def _find_token(digest: str) -> Any:
    """The token with the columns of the book and of the device: what an idle sync needs is read in one statement."""
    return _token_with_book.instance(digest=digest)


def _record_visit(device: Credentials) -> None:
    """Note that the device was here, and what it is: at most once a minute, and not while others write (SQLite)."""
    now, row, token = timezone.now(), device.row, device.token
    if row is not None and row.last_seen_at >= now - _SEEN_RESOLUTION:
        return
    agent = device.user_agent[:_MAX_USER_AGENT]
    with skip_if_locked(), transaction.atomic():
        if row is not None:
            outdated = Device.objects.owned_by(device.owner).filter(token=token)
            outdated.filter(last_seen_at__lt=now - _SEEN_RESOLUTION).update(last_seen_at=now, user_agent=agent)
        elif ApiToken.objects.owned_by(device.owner).select_for_update().filter(pk=token.pk).exists():
            new = Device(owner=device.owner, token=token, last_seen_at=now, user_agent=agent)
            Device.objects.bulk_create([new], ignore_conflicts=True)
        else:
            raise UnauthorizedError  # revoked at this moment
        if token.group_cards is None:
            unknown = ApiToken.objects.owned_by(device.owner).filter(pk=token.pk, group_cards=None)
            unknown.update(group_cards=device.has_group_cards)


def _read_login(header: str) -> tuple[str, str] | None:
    """The user name and the password of an Authorization header; None if it is not Basic, or not readable."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return (name, password.strip()) if colon else None


def _is_name_of(name: str, user: User) -> bool:
    # Some clients take the name from a URL, and send `alice%40example.org`.
    names = {name.strip(), unquote(name).strip()}
    return str(user.pk) in {each.lower() for each in names} or fold_email(user.email) in map(fold_email, names)
