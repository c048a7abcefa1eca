"""Selected people become cards on the server."""

from collections.abc import Sequence
from uuid import UUID

from accounts.models import User
from carddav.client import DavError
from carddav.models import Mapping, MappingStatus
from carddav.services.books import server_access, work_in_book
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.context import Context
from carddav.sync.push import push_all
from carddav.sync.recovery import recover
from carddav.sync.run import forget_found, pull, push_unfound, queue_people, save_listing
from people.models import Person

_BATCH = 50


def export_people(*, owner: User, person_ids: Sequence[UUID]) -> Receipt:
    """Write a card for each that has none and is to be synced. The others are skipped, as are those whose card the
    server has refused before and who have not changed since.

    Raises MissingError, ConnectionBusyError.
    """
    receipt = Receipt()
    with locked_connection(owner) as context:
        sendable, refused = _sendable(owner, person_ids), _refused(owner, person_ids)

        def find_and_send(context: Context) -> None:
            nonlocal sendable
            _find_sent(context)
            sendable = _sendable(owner, person_ids)  # without those whose card was found by now
            _send(context, sendable)

        try:
            with server_access(context.connection):
                work_in_book(context, find_and_send)
        except DavError as error:
            receipt.fail(str(error))
        receipt.skipped = len(person_ids) - len(sendable) + len(refused & _refused(owner, sendable))
        receipt.done = len(sendable) - len(_sendable(owner, sendable))
        receipt.errors += context.tally.errors
        receipt.messages += context.tally.messages
    return receipt


def _find_sent(context: Context) -> None:
    recover(context)
    # A book that nobody has read yet may hold these people, as may one with new cards of unknown outcome.
    if context.unfound or context.connection.last_reconcile_at is None:
        pull(context)
        forget_found(context)


def _send(context: Context, person_ids: Sequence[UUID]) -> None:
    for start in range(0, len(person_ids), _BATCH):
        batch = person_ids[start : start + _BATCH]
        queue_people(context, batch)
        queued = Mapping.objects.owned_by(context.owner).filter(person__in=batch, remote_raw="")
        push_all(context, list(queued.order_by("id").values_list("pk", flat=True)))
        push_unfound(context)
    save_listing(context)


def _sendable(owner: User, person_ids: Sequence[UUID]) -> list[UUID]:
    """Who may have a card, and has none."""
    mapped = Mapping.objects.owned_by(owner).filter(person__in=person_ids).exclude(remote_raw="")
    synced = Person.objects.owned_by(owner).active().filter(card_dav_sync_enabled=True, pk__in=person_ids)
    may = set(synced.exclude(pk__in=mapped.values("person_id")).values_list("pk", flat=True))
    return [key for key in person_ids if key in may]


def _refused(owner: User, person_ids: Sequence[UUID]) -> set[tuple[UUID, str]]:
    """Whose card the server has refused, with what it said then."""
    rows = Mapping.objects.owned_by(owner).filter(person__in=person_ids, status=MappingStatus.QUARANTINED)
    return set(rows.values_list("person_id", "body_hash"))
