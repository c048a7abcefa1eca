"""Sends local changes to the server: commits an intent, sends the request, acts on its reply (docs/carddav.md).

The intent is committed before its request, so that after a crash the next run knows what may have been written. While
its outcome is unknown nothing else is sent for that card. After success the intent stays until the card was read back,
which shows how the server spells what was sent.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from uuid import UUID, uuid4

from carddav.client.book import WriteOutcome, WriteResult, locks_whole_book
from carddav.models import HeldBack, JournalEntry, JournalOp, Mapping
from carddav.models.mapping import hash_text
from carddav.sync.contacts import is_sync_suspended, load_mapping, merge_contact
from carddav.sync.context import SyncContext
from carddav.sync.journal import read_back
from carddav.sync.push_plan import CardDraft, NeedsMergeError, draft_card, unsent_mapping_ids, without_unreadable
from carddav.sync.replies import PushState, handle_reply, hold_back
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import DavError
from contacts_project.kernel.webdav.hrefs import href_key
from people.contents.contact import LocalContact, load_local_contact
from people.photos.files import read_photo
from people.photos.names import photo_hash
from people.vcard import VCardError

_READ_ONLY = define_text("book_read_only", "The address book can only be read: %(count)s contacts were not sent.")
_NO_SPACE = define_text("server_full", "The server has no room: %(count)s contacts were not sent.")

_SENDING = define_text("progress_sending", "Sending %(count)s contacts")
_UNREADABLE = define_text("own_card_unreadable", "its card cannot be read: %(reason)s")

#: If-Match for a card without an ETag: the card must exist.
_ANY_VERSION = "*"


def push_all(context: SyncContext, only: Sequence[UUID] | None = None) -> None:
    """Send the unsent mappings, or `only` those given, a few at a time, and read back the written cards."""
    mapping_ids = without_unreadable(context, unsent_mapping_ids(context.connection) if only is None else list(only))
    state = PushState(
        is_locking=locks_whole_book(context.listing.token if context.listing else context.connection.sync_token)
    )
    stream = iter(mapping_ids)
    done = 0
    # A batch is as large as the number of parallel requests: if the run is killed, no more outcomes than these are
    # unknown.
    while batch := list(islice(stream, 1 if state.is_locking else context.parallel)):
        context.report_progress("pushing", _SENDING.format(count=len(mapping_ids)), done, len(mapping_ids))
        _push_batch(context, batch, state)
        done += len(batch)
    if state.unsent_count:
        text = _READ_ONLY if state.is_read_only else _NO_SPACE
        context.tally.add_error(text.format(count=state.unsent_count))
    read_back(context)


def _push_batch(context: SyncContext, mapping_ids: Sequence[UUID], state: PushState) -> None:
    intents = [intent for key in mapping_ids if (intent := _prepare_intent(context, key, state)) is not None]
    results = list(zip(intents, _send_requests(context, intents), strict=True))
    # Successful writes first: if another reply ends the run, their outcome is recorded.
    results.sort(key=lambda pair: not (isinstance(pair[1], WriteResult) and pair[1].outcome is WriteOutcome.DONE))
    failure: DavError | None = None
    for intent, result in results:
        if isinstance(result, WriteResult):
            if handle_reply(context, intent, result, state):
                _push_batch(context, [*filter(None, [intent.mapping_id])], state)
        else:
            state.withdraw(intent)  # a DavError means that nothing was written
            failure = failure or result
    # The error ends the run, so it is raised only after all other outcomes of the batch are recorded.
    if failure is not None:
        raise failure


def _send_requests(context: SyncContext, intents: list[JournalEntry]) -> list[WriteResult | DavError]:
    if not intents:
        return []

    def send(intent: JournalEntry) -> WriteResult | DavError:
        try:
            if intent.op == JournalOp.CREATE:
                return context.book.create(intent.href.rpartition("/")[2], intent.body)
            return context.book.put(intent.href, intent.body, intent.if_match or _ANY_VERSION)
        except DavError as error:
            return error  # not raised here: the outcomes of the other requests must be recorded first

    if len(intents) == 1 or context.parallel == 1:
        return [send(intent) for intent in intents]
    # The pool's threads do the waiting; this thread, which may serve a request, is marked as waiting.
    with external_wait(), ThreadPoolExecutor(context.parallel) as pool:
        return list(pool.map(send, intents))


def _prepare_intent(context: SyncContext, mapping_id: UUID, state: PushState) -> JournalEntry | None:
    """Commit the intent of writing the contact's card; None if nothing is to be sent or it would be refused."""
    try:
        return _try_prepare(context, mapping_id, state)
    except NeedsMergeError:
        merge_contact(context, mapping_id)
    # Only one more try after the merge: a card that keeps changing is left to the next run.
    try:
        return _try_prepare(context, mapping_id, state)
    except NeedsMergeError:
        return None


def _try_prepare(context: SyncContext, mapping_id: UUID, state: PushState) -> JournalEntry | None:
    mappings = Mapping.objects.owned_by(context.owner).filter(pk=mapping_id)
    name = mappings.values_list("person__photo", flat=True).first()
    photo = read_photo(name) if name else None  # file access stays outside of the transaction
    with context.write() as write:
        if (mapping := load_mapping(context, mapping_id)) is None:
            return None
        contact = load_local_contact(context.owner, mapping.person_id)
        # Only one open write per card: the outcome of the earlier one decides what the next may replace.
        intent = JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping_id).order_by("id").first()
        if intent is not None:
            return _resend_create(context, intent, contact, state)
        # If the photo was replaced since it was read, the person has a higher revision, and the next run sends it.
        if is_sync_suspended(contact) or contact.fields["photo"] != (photo_hash(name) if name else None):
            return None
        try:
            draft = draft_card(
                context, mapping, contact, photo, write.revision, with_photo=mapping.pk not in state.without_photo
            )
        except VCardError as error:
            reason, body_hash = _UNREADABLE.format(reason=error.text), hash_text(mapping.remote_raw)
            hold_back(context, mapping, HeldBack.UNREADABLE, body_hash, reason, write.now)
            draft = None
        # A card that is held back is not sent again with the same content before its time.
        if draft is None or mapping.is_held_back(draft.hash, write.now):
            return None
        is_new = not mapping.remote_raw
        # A full server may still accept an update of an existing card.
        if state.is_read_only or (is_new and state.is_full):
            state.unsent_count += 1
            state.hold_back_unsent(mapping, draft.hash, write.now)
            return None
        return _create_intent(context, write, mapping, contact, draft)


def _resend_create(
    context: SyncContext, intent: JournalEntry, contact: LocalContact, state: PushState
) -> JournalEntry | None:
    """The intent of a create that is neither at its href nor in the listing, to be sent again unchanged; None for any
    other intent. Must be called inside the write.

    With the same href and text a first request that arrives late creates no second card.
    """
    if intent.mapping_id not in context.unconfirmed_creates:
        return None
    context.unconfirmed_creates.discard(intent.mapping_id)
    if is_sync_suspended(contact):
        intent.delete()  # the mapping keeps the href, under which a later create is sent
        return None
    if state.is_read_only or state.is_full:
        state.unsent_count += 1
        return None
    state.resent.add(intent.pk)
    return intent


def _create_intent(
    context: SyncContext, write: AccountWrite, mapping: Mapping, contact: LocalContact, draft: CardDraft
) -> JournalEntry:
    is_new = not mapping.remote_raw
    # The href is chosen and saved before the request, so that the card can be looked for after a crash. The mapping
    # keeps it whatever the server answers: with a new href a delayed request would create a second card.
    if is_new and not mapping.href:
        mapping.reserve(context.book.new_href(f"{uuid4()}.vcf"))
    href = mapping.href
    return JournalEntry.objects.create(
        owner=context.owner,
        connection=context.connection,
        mapping=mapping,
        person=contact.person,
        op=JournalOp.CREATE if is_new else JournalOp.UPDATE,
        href=href,
        href_key=href_key(href, context.book.url),
        uid=contact.person.uid if is_new else mapping.uid,
        if_match=None if is_new else mapping.etag,
        body=draft.render(f"{write.now:%Y%m%dT%H%M%SZ}"),
        body_hash=draft.hash,
        fields=draft.base_local,
        local_rev=write.revision,
    )
