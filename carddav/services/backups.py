"""Every card of the book as one file, as the server has them."""

import re
from tempfile import TemporaryFile
from typing import IO

from accounts.models import User
from carddav.client import Book, BookGoneError, Card, DavError
from carddav.models import Connection
from carddav.services.books import book_of, server_access
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

    def clear(self) -> None:
        """Begin anew."""
        self.file.seek(0)
        self.file.truncate()
        self.cards = self.unreadable = 0

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
    try:
        with book_of(connection) as book:
            _add_cards(book, backup)
    except BookGoneError as gone:  # as in a run: it may have moved
        if not connection.is_resolved:
            raise
        backup.clear()
        with book_of(connection, instead_of=gone) as book:
            _add_cards(book, backup)


def _add_cards(book: Book, backup: Backup) -> None:
    for card in book.fetch(entry.href for entry in book.list().changed):
        if isinstance(card, Card):
            backup.add(card.text)
        else:  # what vanished meanwhile is in nobody's book
            backup.unreadable += hasattr(card, "status")
