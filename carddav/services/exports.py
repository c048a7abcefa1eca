"""Exports: selected people as cards on the server, and the whole address book as one file."""

import re
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import IO
from uuid import UUID

from accounts.models import User
from carddav.client.book import AddressBook
from carddav.models import Connection, Mapping
from carddav.models.mapping import WAITING_FOR_CONTENT
from carddav.services.books import book_session, do_job, server_access
from carddav.services.connections import get_connection, locked_connection
from carddav.services.server_checks import ServerError
from carddav.sync.context import JobReport, SyncContext
from carddav.sync.journal import recover
from carddav.sync.push import push_all
from carddav.sync.push_plan import people_for_new_cards
from carddav.sync.run import drop_confirmed_creates, pull, queue_new_cards, retry_unconfirmed_creates, save_sync_token
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.webdav.errors import CollectionGoneError, DavError
from contacts_project.kernel.webdav.shapes import Resource, Unreadable

_BATCH_SIZE = 50
_CARD_BEGIN = re.compile(rb"^BEGIN:VCARD[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def export_people(*, owner: User, person_ids: Sequence[UUID]) -> JobReport:
    """Write a card for each person who has none, is to be synced and is not quiet. All others are skipped, also those
    whose card the server has refused and that have not changed since.

    Raises MissingError, ConnectionBusyError.
    """
    with locked_connection(owner) as context:
        exportable, refused = _exportable_ids(owner, person_ids), _refused_cards(owner, person_ids)

        def find_and_send(context: SyncContext) -> None:
            nonlocal exportable
            _confirm_earlier_creates(context)
            exportable = _exportable_ids(owner, person_ids)  # some cards may have been found meanwhile
            _send_in_batches(context, exportable)

        report = do_job(context, find_and_send)
        report.skipped = len(person_ids) - len(exportable) + len(refused & _refused_cards(owner, exportable))
        report.done = len(exportable) - len(_exportable_ids(owner, exportable))
    return report


def _confirm_earlier_creates(context: SyncContext) -> None:
    recover(context)
    # These people may already be in a book that was never listed, or in one with creates of unknown outcome.
    if context.unconfirmed_creates or context.connection.last_reconcile_at is None:
        pull(context)
        drop_confirmed_creates(context)


def _send_in_batches(context: SyncContext, person_ids: Sequence[UUID]) -> None:
    for start in range(0, len(person_ids), _BATCH_SIZE):
        batch = person_ids[start : start + _BATCH_SIZE]
        queue_new_cards(context, batch)
        queued = Mapping.objects.owned_by(context.owner).filter(person__in=batch, remote_raw="")
        push_all(context, list(queued.order_by("id").values_list("pk", flat=True)))
        retry_unconfirmed_creates(context)
    save_sync_token(context)


def _exportable_ids(owner: User, person_ids: Sequence[UUID]) -> list[UUID]:
    """The people who may get a card and have none, in the given order."""
    mapped = Mapping.objects.owned_by(owner).filter(person__in=person_ids).exclude(remote_raw="")
    synced = people_for_new_cards(owner.pk).filter(pk__in=person_ids)
    may = set(synced.exclude(pk__in=mapped.values("person_id")).values_list("pk", flat=True))
    return [key for key in person_ids if key in may]


def _refused_cards(owner: User, person_ids: Sequence[UUID]) -> set[tuple[UUID, str]]:
    """The people whose card the server has refused, with the hash of its content."""
    rows = Mapping.objects.owned_by(owner).filter(person__in=person_ids, code__in=WAITING_FOR_CONTENT)
    return set(rows.values_list("person_id", "body_hash"))


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
    except CollectionGoneError as gone:
        if not connection.is_resolved:
            raise
        # The book may have moved, as in a run. Cards that were read before belong to no complete backup.
        backup.clear()
        with book_session(connection, gone_error=gone) as book:
            _add_cards(book, backup)


def _add_cards(book: AddressBook, backup: Backup) -> None:
    for card in book.fetch(entry.href for entry in book.list().changed):
        if isinstance(card, Resource):
            backup.add(card.text)
        else:  # a card deleted meanwhile (Missing) is not part of the book any more
            backup.unreadable += isinstance(card, Unreadable)
