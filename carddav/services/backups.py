"""Every card of the book as one file, as the server has them."""

import re
from tempfile import TemporaryFile
from typing import IO

from accounts.models import User
from carddav.client import Book, Capabilities, Card, DavError, Login, discover, open_session
from carddav.models import Connection
from carddav.services.books import server_access
from carddav.services.connection_lock import connection_of
from carddav.services.server_checks import ServerError
from contacts_project.kernel.external_waits import external_wait

_BEGIN = re.compile(rb"^BEGIN:VCARD[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class Backup:
    """A file that was written: `file` at its beginning, how many cards are in it, and how many could not be read."""

    def __init__(self) -> None:
        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the answer closes it
        self.cards = 0
        self.unreadable = 0

    def add(self, text: str) -> None:
        body = text.encode("utf-8", "surrogatepass")
        self.cards += len(_BEGIN.findall(body))
        self.file.write(body if body.endswith(b"\n") else body + b"\r\n")


def back_up_book(*, owner: User) -> Backup:
    """Read the whole book into a file; nothing is changed on either side, groups count as cards.

    Raises MissingError without a connection, and ServerError, which leaves no half a file; also where the server has
    refused the login before, or wants to be left alone.
    """
    connection = connection_of(owner)
    backup = Backup()
    try:
        with server_access(connection), external_wait():
            _read(connection, backup)
    except DavError as error:
        backup.file.close()
        raise ServerError(error) from error
    backup.file.seek(0)
    return backup


def _read(connection: Connection, backup: Backup) -> None:
    login = Login(connection.server_url, connection.username, connection.password)
    with open_session(login, [connection.book_url, *connection.home_urls]) as session:
        if connection.is_resolved:
            book = Book(session, connection.book_url, Capabilities.from_json(connection.caps))
        else:
            found = discover(session, provider=connection.provider).book
            book = Book(session, found.url, found.caps)
        for card in book.fetch(entry.href for entry in book.list().changed):
            if isinstance(card, Card):
                backup.add(card.text)
            else:  # what vanished meanwhile is in nobody's book
                backup.unreadable += hasattr(card, "status")
