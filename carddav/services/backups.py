"""A backup of the whole address book: every card in one file, unchanged."""

import re
from tempfile import TemporaryFile
from typing import IO

from accounts.models import User
from carddav.client import Book, BookGoneError, Card, DavError, Unreadable
from carddav.models import Connection
from carddav.services.books import book_session, server_access
from carddav.services.connections import get_connection
from carddav.services.server_checks import ServerError
from contacts_project.kernel.external_waits import external_wait

_CARD_BEGIN = re.compile(rb"^BEGIN:VCARD[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class Backup:
    """The file, positioned at its start, and the numbers of cards in it and of cards that could not be read."""

    def __init__(self) -> None:
        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the response closes it
        self.cards = 0
        self.unreadable = 0

    def clear(self) -> None:
        """Discard what was written."""
        self.file.seek(0)
        self.file.truncate()
        self.cards = self.unreadable = 0

    def add(self, text: str) -> None:
        body = text.encode("utf-8", "surrogatepass")
        self.cards += len(_CARD_BEGIN.findall(body))
        self.file.write(body if body.endswith(b"\n") else body + b"\r\n")


def back_up_book(*, owner: User) -> Backup:
    """Read the whole book into a file; nothing is changed on either side. Group cards count as cards.

    Raises MissingError if there is no connection. Raises ServerError for any failure, so that no incomplete file is
    returned; also if the server has refused the login before or has asked to wait.
    """
    connection = get_connection(owner)
    backup = Backup()
    try:
        with server_access(connection), external_wait():
            _read_book(connection, backup)
    except DavError as error:
        backup.file.close()
        raise ServerError(error) from error
    backup.file.seek(0)
    return backup


def _read_book(connection: Connection, backup: Backup) -> None:
    try:
        with book_session(connection) as book:
            _add_cards(book, backup)
    except BookGoneError as gone:
        if not connection.is_resolved:
            raise
        # The book may have moved, as in a run. Cards that were read before belong to no complete backup.
        backup.clear()
        with book_session(connection, gone_error=gone) as book:
            _add_cards(book, backup)


def _add_cards(book: Book, backup: Backup) -> None:
    for card in book.fetch(entry.href for entry in book.list().changed):
        if isinstance(card, Card):
            backup.add(card.text)
        else:  # a card deleted meanwhile (Missing) is not part of the book any more
            backup.unreadable += isinstance(card, Unreadable)
