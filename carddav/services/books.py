"""Opens the address book of a connection, and records errors of the server."""

import datetime as dt
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.utils import timezone

from carddav.client.address_books import code_of
from carddav.client.book import AddressBook
from carddav.client.discovery import discover
from carddav.models import Connection, Pause
from carddav.sync.context import JobReport, SyncContext
from contacts_project.kernel.outbound.exchanges import exchanges_of
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import (
    CollectionGoneError,
    CollectionMovedError,
    DavError,
    LoginRefusedError,
    NotDavError,
    ServerBusyError,
)
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import MAX_TURN_WAIT_SECONDS, DavSession, open_session
from contacts_project.kernel.webdav.shapes import Capabilities

_LOOKING = define_text("progress_looking", "Looking for the address book")

LOGIN_REFUSED_MESSAGE = define_text(
    "login_refused", "The server has refused the login. Nothing is asked again until the password is given anew."
)
UNTRUSTED_REDIRECT_MESSAGE = define_text(
    "untrusted_redirect",
    "The server sends requests for the address book to %(address)s, to which the address of the connection does not "
    "lead. The login was not sent there, and nothing was changed here. If the provider has moved the account, save the "
    "connection with the new address.",
)
#: The columns that discovery sets.
_DISCOVERED_COLUMNS = ("principal_url", "home_urls", "book_url", "book_name", "caps")
#: The deadline of the requests inside `server_access`, in monotonic time.
_give_up_at: ContextVar[float | None] = ContextVar("carddav_give_up_at", default=None)
NOT_BEFORE_MESSAGE = define_text("server_asked_to_wait", "The server has asked to be left alone until %(until)s UTC.")


@contextmanager
def server_access(connection: Connection, *, is_run: bool = False) -> Iterator[None]:
    """Send no request if the server has refused the login or has asked to wait; record a DavError of the block.

    The requests of the block count as exchanges of the account, and together take at most CARDDAV_RUN_SECONDS. After a
    failed run (`is_run`) the next one is due after the interval. Raises DavError.
    """
    if connection.pause == Pause.AUTH:
        # Repeated tries with a refused password make some servers lock the account.
        raise LoginRefusedError(LOGIN_REFUSED_MESSAGE)
    if connection.not_before is not None and (seconds := (connection.not_before - timezone.now()).total_seconds()) > 0:
        raise ServerBusyError(
            NOT_BEFORE_MESSAGE.format(until=f"{connection.not_before:%H:%M}"), retry_after=math.ceil(seconds)
        )
    token = _give_up_at.set(time.monotonic() + settings.CARDDAV_RUN_SECONDS)
    try:
        # Also for downloads of pictures, which use no session of the book.
        with exchanges_of(connection.owner_id, wait_seconds=MAX_TURN_WAIT_SECONDS):
            yield
    except DavError as error:
        _record_failure(connection, error, is_run=is_run)
        raise
    finally:
        _give_up_at.reset(token)


def work_in_book(context: SyncContext, work: Callable[[SyncContext], None]) -> None:
    """Call `work` with the open book. If the server says, before or meanwhile, that the book has moved, and discovery
    finds it again, call `work` once more. Raises DavError."""
    try:
        with open_book(context):
            work(context)
    except CollectionGoneError as gone:
        # Only a known book is looked for again. If discovery does not find it, that is an error: another book must not
        # take its place.
        if not context.connection.is_resolved:
            raise
        with open_book(context, gone_error=gone):
            work(context)


def do_job(context: SyncContext, work: Callable[[SyncContext], None]) -> JobReport:
    """`work_in_book` for a job without a run; a failure of the server is an error of its report."""
    report = JobReport()
    try:
        with server_access(context.connection):
            work_in_book(context, work)
    except DavError as error:
        report.add_error(error.text)
    report.errors += context.tally.errors
    report.messages += context.tally.messages
    return report


@contextmanager
def open_book(context: SyncContext, *, gone_error: CollectionGoneError | None = None) -> Iterator[None]:
    """Open the book for the context and save what discovery has found. Raises DavError."""
    connection = context.connection
    if gone_error is not None or not connection.is_resolved:
        context.report_progress("connecting", _LOOKING)
    before = connection.book_url
    with book_session(connection, gone_error=gone_error) as book:
        if connection.book_url != before:
            rows = Connection.objects.owned_by(context.owner).filter(pk=connection.pk)
            rows.update(**{column: getattr(connection, column) for column in _DISCOVERED_COLUMNS})
        context.opened_book = book
        try:
            yield
        finally:
            _save_capabilities(connection, book)


@contextmanager
def book_session(connection: Connection, *, gone_error: CollectionGoneError | None = None) -> Iterator[AddressBook]:
    """The book, discovered first if it is not known or if the server says that it is gone or has moved.

    What discovery finds is set on `connection` and not saved. Raises DavError.
    """
    login = Login(connection.server_url, connection.username, connection.password)
    trusted_urls = filter(None, [connection.book_url, *connection.home_urls])
    with open_session(login, trusted_urls, give_up_at=_give_up_at.get(), account=connection.owner_id) as session:
        if gone_error is not None or not connection.is_resolved:
            _discover_book(connection, session, gone_error)
        yield AddressBook(session, connection.book_url, Capabilities.from_json(connection.caps))


def _discover_book(connection: Connection, session: DavSession, gone_error: CollectionGoneError | None) -> None:
    """Set the connection's book to the one that discovery finds.

    Providers move accounts to other hosts (iCloud's partitions): discovery, which starts at the address the user has
    entered, must find the same book there.
    """
    # The login goes to the new host only if discovery names it.
    moved_to = gone_error.location if isinstance(gone_error, CollectionMovedError) else ""
    try:
        discovery = discover(
            session,
            provider=connection.provider,
            stored=moved_to or connection.book_url,
            has_moved_host=gone_error is not None and not moved_to,
        )
    except (CollectionGoneError, NotDavError) as error:
        if not moved_to:
            raise gone_error or error from None
        raise CollectionGoneError(UNTRUSTED_REDIRECT_MESSAGE.format(address=moved_to), status=404) from None
    connection.principal_url, connection.home_urls = discovery.principal_url, list(discovery.home_urls)
    connection.book_url, connection.book_name = discovery.book.url, discovery.book.name[:255]
    connection.caps = discovery.book.caps.to_json()


def _save_capabilities(connection: Connection, book: AddressBook) -> None:
    """Save unsupported reports, so that the next run does not request them."""
    if book.caps != Capabilities.from_json(connection.caps):
        rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk, book_url=connection.book_url)
        rows.update(caps=book.caps.to_json())


def _record_failure(connection: Connection, error: DavError, *, is_run: bool) -> None:
    now = timezone.now()
    values: dict[str, object] = {
        "last_error": error.text,
        "last_error_code": code_of(error),
        "last_error_status": error.status,
        "last_error_at": now,
    }
    if is_run:
        values["next_sync_at"] = now + dt.timedelta(seconds=connection.auto_sync_interval)
    if isinstance(error, LoginRefusedError):
        values["pause"] = Pause.AUTH
    if error.retry_after:
        values["not_before"] = values["next_sync_at"] = now + dt.timedelta(seconds=error.retry_after)
    rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk)
    # Only if the connection was not changed meanwhile: a new password must not be paused for the failure of the old
    # one.
    rows.filter(updated_at=connection.updated_at).update(**values)
