"""Finds the outcome of writes whose reply was lost, and reads back the cards of those that succeeded."""

from uuid import UUID

from django.db.models import QuerySet

from carddav.client import Card as FetchedCard
from carddav.client import Missing, Unreadable, same_etag
from carddav.models import JournalEntry, JournalOp, JournalState
from carddav.sync.book import read_current_card
from carddav.sync.contacts import merge_or_report
from carddav.sync.context import CARD_PROBLEM, Context
from carddav.sync.rebase import is_write_applied
from carddav.sync.write_results import finish_found_write, finish_read_back, parse_fields
from contacts_project.kernel.texts import define_text
from people.contents.fields import remote_fields
from people.vcard import VCardError, read_resource

_RECOVERING = define_text("progress_recovering", "Looking what became of the last changes")
_VERIFYING = define_text("progress_verifying", "Reading back %(count)s contacts")


def resolve_unknown_write(context: Context, intent: JournalEntry) -> bool:
    """Ask the server for the outcome of a write; True if it was not applied and may be sent again.

    A new card that is not at its href may have another one, or the request may still arrive. Its mapping is added to
    `unconfirmed_creates` until the book was listed. The intent stays, so that only this text is ever sent under this
    href.
    """
    found = read_current_card(context.book, intent.href)
    if isinstance(found, Missing):
        if intent.op == JournalOp.CREATE and intent.mapping_id is not None:
            context.unconfirmed_creates.add(intent.mapping_id)
            return False
        intent.delete()
        return True
    # The card still has the ETag that the write was to replace.
    if intent.if_match is not None and same_etag(found.etag, intent.if_match):
        intent.delete()
        return True
    if matches_intent(intent, found):
        finish_found_write(context, intent, found)
        return False
    intent.delete()
    # Another client has written the card since; this is merged like any of its edits.
    if intent.op == JournalOp.UPDATE and intent.mapping_id is not None:
        merge_or_report(context, intent.mapping_id, found)
    return False


def matches_intent(intent: JournalEntry, found: FetchedCard) -> bool:
    """Whether the card contains what the write sent."""
    if found.text == intent.body:
        return True
    try:
        sent, now = (read_resource(text)[0] for text in (intent.body, found.text))
    except VCardError:
        return False
    # Nobody else can have this UID under a randomly chosen href.
    if intent.op == JournalOp.CREATE and found.key == intent.href_key and now.uid == sent.uid:
        return True
    before = parse_fields(intent.mapping.remote_raw if intent.mapping is not None else "")
    return is_write_applied(before, remote_fields(sent), remote_fields(now))


def _writes(context: Context) -> QuerySet[JournalEntry]:
    return JournalEntry.objects.owned_by(context.owner).filter(connection=context.connection.pk).order_by("id")


def recover(context: Context) -> None:
    """Resolve the writes that an interrupted run has left behind."""
    rows = _writes(context).filter(state=JournalState.PREPARED)
    prepared = list(rows.select_related("mapping"))
    for number, intent in enumerate(prepared):
        context.report_progress("recovering", _RECOVERING, number, len(prepared))
        resolve_unknown_write(context, intent)
    read_back(context, is_late=True)


def read_back(context: Context, *, is_late: bool = False) -> None:
    """Fetch the written cards, 50 a request, and take the server's spelling as their new base.

    `is_late`: they were written by an earlier run, so that other clients may have edited them since.
    """
    unverified = dict(_writes(context).filter(state=JournalState.DONE).values_list("href", "pk"))
    if not unverified:
        return
    context.report_progress("verifying", _VERIFYING.format(count=len(unverified)), 0, len(unverified))
    for found in context.book.fetch(list(unverified)):
        if isinstance(found, FetchedCard):
            finish_read_back(context, unverified[found.href], found, is_late=is_late)
        elif isinstance(found, Unreadable):
            context.tally.add_error(CARD_PROBLEM.format(href=found.href, reason=found.message))
            # The write itself has succeeded; only the server's spelling stays unknown.
            JournalEntry.objects.owned_by(context.owner).filter(
                pk=unverified[found.href], state=JournalState.DONE
            ).delete()
        else:
            _discard_missing_write(context, unverified[found.href])


def _discard_missing_write(context: Context, intent_id: UUID) -> None:
    """A card that was just written is not there: it was deleted or moved meanwhile. The next listing shows which."""
    with context.write():
        intent = JournalEntry.objects.owned_by(context.owner).select_related("mapping").filter(pk=intent_id).first()
        if intent is None:
            return
        if intent.op == JournalOp.CREATE and intent.mapping is not None:
            # Under the same href: the card may exist and not be visible yet.
            intent.mapping.requeue(intent.href)
        intent.delete()
