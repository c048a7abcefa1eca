"""The open address book of a connection."""

from collections.abc import Iterator
from contextlib import contextmanager

from carddav.client import Book, Capabilities, DavSession, Login, discover, open_session
from carddav.models import Connection
from carddav.sync.context import Context


@contextmanager
def open_book(context: Context, *, moved_to: str = "") -> Iterator[None]:
    """Open the book, which is found first where it is not known yet, or where the server says it has moved.

    Raises DavError: a book that was known and is not there any more is an error, never a reason to take another.
    """
    connection = context.connection
    login = Login(connection.server_url, connection.username, connection.password)
    with open_session(login, named=filter(None, [connection.book_url, *connection.home_urls])) as session:
        if moved_to or not connection.is_resolved:
            _find_book(context, session, moved_to)
        context.book_or_none = Book(session, connection.book_url, Capabilities.from_json(connection.caps))
        yield


def _find_book(context: Context, session: DavSession, moved_to: str) -> None:
    connection = context.connection
    context.tell("connecting", "Looking for the address book")
    found = discover(session, provider=connection.provider, stored=moved_to)
    connection.principal_url, connection.home_urls = found.principal_url, list(found.home_urls)
    connection.book_url, connection.book_name = found.book.url, found.book.name[:255]
    connection.caps = found.book.caps.to_json()
    rows = Connection.objects.owned_by(context.owner).filter(pk=connection.pk)
    columns = ("principal_url", "home_urls", "book_url", "book_name", "caps")
    rows.update(**{column: getattr(connection, column) for column in columns})
