"""The open address book of a connection."""

from collections.abc import Iterator
from contextlib import contextmanager

from carddav.client import Book, Capabilities, Login, open_session
from carddav.sync.context import Context


@contextmanager
def open_book(context: Context) -> Iterator[None]:
    """Open the book, found first where it is not known yet. Raises DavError."""
    connection = context.connection
    login = Login(connection.server_url, connection.username, connection.password)
    with open_session(login, named=[connection.book_url, *connection.home_urls]) as session:
        context.book_or_none = Book(session, connection.book_url, Capabilities.from_json(connection.caps))
        yield
