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
from carddav.sync.run import forget_found, pull, push_unfound, queue_people, save_listing
from people.models import Person

_BATCH = 50


def export_people(*, owner: User, person_ids: Sequence[UUID]) -> Receipt:
    """Write a card for each that has none and is to be synced; the others are skipped.

    Raises MissingError, ConnectionBusyError.
    """
    receipt = Receipt()
    with locked_connection(owner) as context:
        sendable = _sendable(owner, person_ids)
        try:
            with server_access(context.connection), open_book(context):
                recover(context)
                # A book that nobody has read yet may hold these people, as may one with new cards of unknown outcome.
                if context.unfound or context.connection.last_reconcile_at is None:
                    pull(context)
                    forget_found(context)
                # Whose card was found by now was exported before.
                sendable = _sendable(owner, person_ids)
                for start in range(0, len(sendable), _BATCH):
                    batch = sendable[start : start + _BATCH]
                    queue_people(context, batch)
                    queued = Mapping.objects.owned_by(owner).filter(person__in=batch, remote_raw="")
                    push_all(context, list(queued.order_by("id").values_list("pk", flat=True)))
                    push_unfound(context)
                save_listing(context)
        except DavError as error:
            receipt.fail(str(error))
        receipt.skipped = len(person_ids) - len(sendable)
        receipt.done = len(sendable) - len(_sendable(owner, sendable))
        receipt.errors += context.tally.errors
        receipt.messages += context.tally.messages
    return receipt


def _sendable(owner: User, person_ids: Sequence[UUID]) -> list[UUID]:
    """Who may have a card, and has none."""
    mapped = Mapping.objects.owned_by(owner).filter(person__in=person_ids).exclude(remote_raw="")
    synced = Person.objects.owned_by(owner).active().filter(card_dav_sync_enabled=True, pk__in=person_ids)
    may = set(synced.exclude(pk__in=mapped.values("person_id")).values_list("pk", flat=True))
    return [key for key in person_ids if key in may]
