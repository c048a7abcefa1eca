"""What became of writes: of those whose outcome is not known, and how the server spells those that are done."""

from uuid import UUID

from carddav.client import Card as FetchedCard
from carddav.client import Missing, Unreadable, same_etag
from carddav.models import JournalEntry, JournalOp, JournalState
from carddav.sync.book import read_current_card
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.fields import remote_fields
from carddav.sync.rebase import is_applied
from carddav.sync.tombstones import requeue
from carddav.sync.write_results import finish_found_write, finish_read_back, read_fields
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.vcard import VCardError, read_card

_PREPARED = CompiledQuery(
    lambda owner_id, connection_id: (
        JournalEntry.objects.owned_by(owner_id)
        .filter(connection=connection_id, state=JournalState.PREPARED)
        .select_related("mapping")
        .order_by("id")
    )
)
_DONE = CompiledQuery(
    lambda owner_id, connection_id: (
        JournalEntry.objects.owned_by(owner_id)
        .filter(connection=connection_id, state=JournalState.DONE)
        .order_by("id")
        .values_list("href", "pk")
    )
)


def resolve_unknown_write(context: Context, intent: JournalEntry) -> bool:
    """Ask what became of a write whose outcome is not known; True where it was not done and may be sent again.

    A new card that is not at its href may have got another one, or still be on its way: it stands in `unfound` until
    the book was listed, and its intent stays, so that nothing but this text is ever sent, under this name.
    """
    found = read_current_card(context.book, intent.href)
    if isinstance(found, Missing):
        if intent.op == JournalOp.CREATE and intent.mapping_id is not None:
            context.unfound.add(intent.mapping_id)
            return False
        intent.delete()
        return True
    # It is still the version that the write was to replace.
    if intent.if_match is not None and same_etag(found.etag, intent.if_match):
        intent.delete()
        return True
    if matches_intent(intent, found):
        finish_found_write(context, intent, found)
        return False
    intent.delete()
    # Somebody else has written the card since: that is merged as any edit of theirs.
    if intent.op == JournalOp.UPDATE and intent.mapping_id is not None:
        merge_contact(context, intent.mapping_id, found)
    return False


def matches_intent(intent: JournalEntry, found: FetchedCard) -> bool:
    """Whether the card says what the write sent."""
    if found.text == intent.body:
        return True
    try:
        sent, now = (read_card(text)[0] for text in (intent.body, found.text))
    except VCardError:
        return False
    # Nobody else has this UID under a name that we drew at random.
    if intent.op == JournalOp.CREATE and found.key == intent.href_key and now.uid == sent.uid:
        return True
    before = read_fields(intent.mapping.remote_raw if intent.mapping is not None else "")
    return is_applied(before, remote_fields(sent), remote_fields(now))


def recover(context: Context) -> None:
    """Find out about the writes that a run left behind when it was killed or cut off."""
    prepared = _PREPARED.instances(owner_id=context.owner.pk, connection_id=context.connection.pk)
    for number, intent in enumerate(prepared):
        context.report_progress("recovering", "Looking what became of the last changes", number, len(prepared))
        resolve_unknown_write(context, intent)
    read_back(context, is_late=True)


def read_back(context: Context, *, is_late: bool = False) -> None:
    """Fetch what was written, once for fifty cards, and take the server's spelling as the new base.

    `is_late`: an earlier run has written it.
    """
    left: dict[str, UUID] = dict(_DONE.values(owner_id=context.owner.pk, connection_id=context.connection.pk))
    if not left:
        return
    context.report_progress("verifying", f"Reading back {len(left)} contacts", 0, len(left))
    for found in context.book.fetch(list(left)):
        if isinstance(found, FetchedCard):
            finish_read_back(context, left[found.href], found, is_late=is_late)
        elif isinstance(found, Unreadable):
            context.tally.fail(f"{found.href}: {found.message}")
            JournalEntry.objects.owned_by(context.owner).filter(pk=left[found.href], state=JournalState.DONE).delete()
        else:
            _discard_missing_write(context, left[found.href])


def _discard_missing_write(context: Context, intent_id: UUID) -> None:
    """What was just written is not there: deleted meanwhile, or put elsewhere. The next listing tells."""
    with context.write():
        intent = JournalEntry.objects.owned_by(context.owner).select_related("mapping").filter(pk=intent_id).first()
        if intent is None:
            return
        if intent.op == JournalOp.CREATE and intent.mapping is not None:
            # Under the same name: it may be there and not yet be shown.
            requeue(intent.mapping, href=intent.href)
        intent.delete()
