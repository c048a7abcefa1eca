"""The open address book of a connection."""

import datetime as dt
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.utils import timezone

from carddav.client import (
    Book,
    BookGoneError,
    BookMovedError,
    BusyError,
    Capabilities,
    DavError,
    DavSession,
    Login,
    LoginRefusedError,
    NotCardDavError,
    discover,
    open_session,
)
from carddav.models import Connection, Pause
from carddav.sync.context import Context

PAUSED = "The server has refused the login. Nothing is asked again until the password is given anew."
NOT_NAMED = (
    "The server sends requests for the address book to {address}, to which the address of the connection does not "
    "lead. The login was not sent there, and nothing was changed here. If the provider has moved the account, save the "
    "connection with the new address."
)
#: What discovery finds out of a connection.
_FOUND = ("principal_url", "home_urls", "book_url", "book_name", "caps")
WAITING = "The server has asked to be left alone until {until:%H:%M} UTC."


@contextmanager
def server_access(connection: Connection, *, is_run: bool = False) -> Iterator[None]:
    """Ask the server nothing where it refused the login, or wants to be left alone; what it refuses now is kept.

    A failed run (`is_run`) is due again after an interval. Raises DavError. A password that is tried again and again
    locks accounts.
    """
    if connection.pause == Pause.AUTH:
        raise LoginRefusedError(PAUSED)
    if connection.not_before is not None and (left := (connection.not_before - timezone.now()).total_seconds()) > 0:
        raise BusyError(WAITING.format(until=connection.not_before), retry_after=math.ceil(left))
    try:
        yield
    except DavError as error:
        _note_failure(connection, error, is_run=is_run)
        raise


def work_in_book(context: Context, work: Callable[[Context], None]) -> None:
    """Do `work` with the open book; once more where the server says, before or meanwhile, that the book has moved and
    discovery finds it again. Raises DavError: a book that was known and is not there any more is an error, never a
    reason to take another.
    """
    try:
        with open_book(context):
            work(context)
    except BookGoneError as gone:
        if not context.connection.is_resolved:
            raise
        with open_book(context, instead_of=gone):
            work(context)


@contextmanager
def open_book(context: Context, *, instead_of: BookGoneError | None = None) -> Iterator[None]:
    """Open the book for the context. Raises DavError."""
    connection = context.connection
    if instead_of is not None or not connection.is_resolved:
        context.report_progress("connecting", "Looking for the address book")
    before = connection.book_url
    with book_of(connection, instead_of=instead_of) as book:
        if connection.book_url != before:
            rows = Connection.objects.owned_by(context.owner).filter(pk=connection.pk)
            rows.update(**{column: getattr(connection, column) for column in _FOUND})
        context.book_or_none = book
        try:
            yield
        finally:
            _keep_caps(connection, book)


@contextmanager
def book_of(connection: Connection, *, instead_of: BookGoneError | None = None) -> Iterator[Book]:
    """The book, which is found first where it is not known yet, or where the server has said that it is gone or moved.

    What is found is set on the connection, and not saved. Raises DavError.
    """
    login = Login(connection.server_url, connection.username, connection.password)
    with open_session(login, named=filter(None, [connection.book_url, *connection.home_urls])) as session:
        if instead_of is not None or not connection.is_resolved:
            _find_book(connection, session, instead_of)
        yield Book(session, connection.book_url, Capabilities.from_json(connection.caps))


def _find_book(connection: Connection, session: DavSession, instead_of: BookGoneError | None) -> None:
    """Providers move accounts to other hosts (iCloud's partitions): discovery, which begins where the user said, has to
    name the same book there."""
    moved_to = instead_of.location if isinstance(instead_of, BookMovedError) else ""
    try:
        found = discover(
            session,
            provider=connection.provider,
            stored=moved_to or connection.book_url,
            has_left=instead_of is not None and not moved_to,
        )
    except (BookGoneError, NotCardDavError) as error:
        if not moved_to:
            raise instead_of or error from None
        raise BookGoneError(NOT_NAMED.format(address=moved_to), status=404) from None
    connection.principal_url, connection.home_urls = found.principal_url, list(found.home_urls)
    connection.book_url, connection.book_name = found.book.url, found.book.name[:255]
    connection.caps = found.book.caps.to_json()


def _keep_caps(connection: Connection, book: Book) -> None:
    """What the server has said that it does not have needs not be asked for by the next run."""
    if book.caps != Capabilities.from_json(connection.caps):
        rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk, book_url=connection.book_url)
        rows.update(caps=book.caps.to_json())


def _note_failure(connection: Connection, error: DavError, *, is_run: bool) -> None:
    now = timezone.now()
    values: dict[str, object] = {
        "last_error": str(error)[:1000],
        "last_error_code": error.code,
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
    # What was changed meanwhile has not failed: a password that was just mended is to be tried.
    rows.filter(updated_at=connection.updated_at).update(**values)
