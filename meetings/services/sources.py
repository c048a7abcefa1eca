"""Calendar sources: they are made, changed, removed and tested. Reading them is in `reading`."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.policy import Reason, Schemes
from contacts_project.kernel.outbound.session import configured_rules, outbound_session
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.hrefs import origin
from meetings.calendars.parser import NotCalendarError, TooManyEventsError, read_calendars
from meetings.client import caldav
from meetings.client.download import Login, download, request_url
from meetings.errors import CODES, CalendarError
from meetings.models import CalendarSource, MeetingProposal, SourceKind

MAX_SOURCES = 10
CHECK_SECONDS = 20.0
CHECKS = RateLimit("calendar-test", 10, 15 * 60)
READINGS = RateLimit("calendar-read", 1, 60)

_PASSWORD_AGAIN = define_text("calendar_password_again", "Another server needs the password again.")
_NO_ADDRESS = define_text("calendar_without_address", "This calendar has no address yet.")


class TooManySourcesError(DomainError):
    """An account has at most ten."""

    message = define_text(
        "calendar_source_limit",
        "At most %(limit)s calendar.",
        plural="At most %(limit)s calendars.",
        number="limit",
    ).format(limit=MAX_SOURCES)


class AddressRefusedError(DomainError):
    """The outbound policy refuses the address."""


class CheckError(DomainError):
    """The test of a calendar failed; `code` is one of the codes of a reading."""

    CODES: tuple[str, ...] = ()

    def __init__(self, code: str, text: Text) -> None:
        super().__init__(text)
        self.code = code


class CheckLoginError(CheckError):
    CODES = ("auth",)


class CheckNotFoundError(CheckError):
    CODES = ("dns", "http_4xx", "not_calendar", "refused")


class CheckTimeoutError(CheckError):
    CODES = ("timeout",)


class CheckRefusedError(CheckError):
    CODES = ("policy", "tls")


class CheckBrokenError(CheckError):
    CODES = ("busy", "http_5xx", "interrupted", "redirect", "too_large")


_CHECKS = {
    code: kind
    for kind in (CheckLoginError, CheckNotFoundError, CheckTimeoutError, CheckRefusedError, CheckBrokenError)
    for code in kind.CODES
}
assert set(_CHECKS) == set(CODES)  # noqa: S101 - each code has its status


def shown_url(url: str) -> str:
    """The address without its path's last part and its query, which are often a secret."""
    head, _, _ = url.partition("?")
    head, _, _ = head.partition("#")
    scheme, separator, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    folder, _, _ = path.rstrip("/").rpartition("/")
    return f"{scheme}{separator}{host}{slash}{folder}{'/' if folder else ''}"


def create_source(*, owner: User, data: JsonMapping, now: dt.datetime) -> CalendarSource:
    """Insert a source, which is due at once. Raises FieldError, AddressRefusedError, TooManySourcesError."""
    _check_address(data["url"])
    with account_write(owner) as write:
        if CalendarSource.objects.owned_by(owner).count() >= MAX_SOURCES:
            raise TooManySourcesError
        return CalendarSource.objects.create(
            owner=owner, created_at=now, next_read_at=now, revision=write.revision, **data
        )


def update_source(*, owner: User, source_id: UUID, data: JsonMapping, now: dt.datetime) -> tuple[CalendarSource, bool]:
    """Change the columns in `data`; returns the source, and whether it is to be read now.

    An address as answers show it stays. Raises MissingError, FieldError, AddressRefusedError.
    """
    changes = {column: value for column, value in data.items() if column != "kind"}
    former = CalendarSource.objects.owned_by(owner).find(source_id)
    if changes.get("url") in {former.url, shown_url(former.url)} and former.url:
        del changes["url"]
    if "url" in changes:
        _check_address(changes["url"])
    with account_write(owner) as write:
        row = CalendarSource.objects.owned_by(owner).find(source_id)
        keeps_password = bool(row.password) and "password" not in changes
        if keeps_password and "url" in changes and _server(row.url) != _server(changes["url"]):
            raise FieldError("password", _PASSWORD_AGAIN)
        is_elsewhere = any(
            column in changes and changes[column] != getattr(row, column) for column in ("url", "username")
        )
        is_more = any(
            column in changes and changes[column] != getattr(row, column)
            for column in ("password", "chosen", "days_back")
        )
        for column, value in changes.items():
            setattr(row, column, value)
        if is_elsewhere:
            row.forget_reading(now)
        elif is_more and row.url:
            row.validators, row.next_read_at = {}, now
            row.held_until, row.holder, row.claim = None, "", None
        if changes.get("name", former.name) != former.name:
            MeetingProposal.objects.owned_by(owner).filter(source=row).update()  # their answers name it
        row.revision = write.revision
        row.save()
        return row, bool(row.url) and (is_elsewhere or is_more)


def _server(url: str) -> tuple[object, ...]:
    return origin(request_url(url))


def delete_source(*, owner: User, source_id: UUID) -> None:
    """Remove a source with its open proposals; what was accepted stays. Raises MissingError."""
    with account_write(owner):
        row = CalendarSource.objects.owned_by(owner).find(source_id)
        MeetingProposal.objects.owned_by(owner).filter(source=row).delete()
        row.delete()


def ask_reading(*, owner: User, source_id: UUID, now: dt.datetime) -> CalendarSource:
    """Make a source due now, once a minute. Raises MissingError, FieldError, RateLimitedError."""
    row = CalendarSource.objects.owned_by(owner).find(source_id)
    if not row.url:
        raise FieldError("url", _NO_ADDRESS)
    READINGS.hit(str(row.pk))
    CalendarSource.objects.owned_by(owner).filter(pk=row.pk).update(next_read_at=now)
    return row


def check_source(*, owner: User, kind: str, url: str, username: str, password: str) -> list[dict[str, str]]:
    """The calendars behind an address, within 20 seconds; nothing is saved. Raises FieldError, RateLimitedError and the
    Check errors."""
    try:
        _check_address(url)
    except AddressRefusedError as error:
        raise CheckRefusedError("policy", error.message) from error
    login = Login(url, username, password)
    with external_wait():
        CHECKS.hit(str(owner.pk))
        try:
            if kind == SourceKind.CALDAV:
                return caldav.find_calendars(login, owner.pk, seconds=CHECK_SECONDS)
            read_calendars(download(login, {}, owner.pk, seconds=CHECK_SECONDS).files or ())
        except CalendarError as error:
            raise _CHECKS[error.code](error.code, error.text) from error
        except (NotCalendarError, TooManyEventsError) as error:
            failed = CalendarError("not_calendar" if isinstance(error, NotCalendarError) else "too_large")
            raise _CHECKS[failed.code](failed.code, failed.text) from error
    return []


def _check_address(url: str) -> None:
    """Raise FieldError for text that is no URL, AddressRefusedError for what the policy refuses now.

    A name that does not resolve is no reason to refuse it: the reading says so.
    """
    target = request_url(url)
    try:
        configured_rules(schemes=Schemes.HTTP_OR_HTTPS).check_url(target)
        with external_wait(), outbound_session(schemes=Schemes.HTTP_OR_HTTPS, seconds=5.0) as session:
            session.check(target)
    except OutboundError as error:
        if error.code == Code.BLOCKED and error.reason in {Reason.MALFORMED, Reason.SCHEME, Reason.USERINFO}:
            raise FieldError("url", error.text) from error
        if error.code == Code.BLOCKED:
            raise AddressRefusedError(error.text) from error
