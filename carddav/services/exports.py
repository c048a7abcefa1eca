"""Selected people become cards on the server."""

from collections.abc import Sequence
from uuid import UUID

from accounts.models import User
from carddav.client import DavError
from carddav.models import Mapping
from carddav.services.books import open_book, server_access
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.push import push_all
from carddav.sync.recovery import recover
from carddav.sync.run import queue_people
from people.models import Person

_BATCH = 50


def export_people(*, owner: User, person_ids: Sequence[UUID]) -> Receipt:
    """Write a card for each that has none and is to be synced; the others are skipped.

    Raises MissingError, ConnectionBusyError.
    """
    receipt = Receipt()
    with locked_connection(owner) as context:
        mapped = Mapping.objects.owned_by(owner).filter(person__in=person_ids).exclude(remote_raw="")
        there = set(mapped.values_list("person_id", flat=True))
        synced = Person.objects.owned_by(owner).active().filter(card_dav_sync_enabled=True, pk__in=person_ids)
        may = set(synced.values_list("pk", flat=True)) - there
        sendable = [key for key in person_ids if key in may]
        receipt.skipped = len(person_ids) - len(sendable)
        try:
            with server_access(context.connection), open_book(context):
                recover(context)
                for start in range(0, len(sendable), _BATCH):
                    batch = sendable[start : start + _BATCH]
                    queue_people(context, batch)
                    queued = Mapping.objects.owned_by(owner).filter(person__in=batch, remote_raw="")
                    push_all(context, list(queued.order_by("id").values_list("pk", flat=True)))
        except DavError as error:
            receipt.fail(str(error))
        receipt.done = context.tally.exported
        receipt.errors += context.tally.errors
        receipt.messages += context.tally.messages
    return receipt
