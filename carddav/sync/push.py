"""Sends local changes to the server: commits an intent, sends the request, records the outcome (docs/carddav.md).

The intent is committed before its request, so that after a crash the next run knows what may have been written. While
its outcome is unknown nothing else is sent for that card. After success the intent stays until the card was read back,
which shows how the server spells what was sent.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID, uuid4

from carddav.client import DavError, Missing, Outcome, WriteResult, href_key, locks_whole_book, same_etag
from carddav.models import (
    ConflictKind,
    JournalEntry,
    JournalOp,
    Mapping,
    MappingStatus,
)
from carddav.sync.backoff import is_backing_off, record_server_failure
from carddav.sync.book import read_current_card
from carddav.sync.cards import format_rev
from carddav.sync.contacts import is_sync_suspended, load_mapping, merge_contact, open_conflict
from carddav.sync.context import Context
from carddav.sync.drafts import Draft, NeedsMergeError, draft_card
from carddav.sync.people import LocalContact, load_local_contact
from carddav.sync.recovery import matches_intent, read_back, resolve_unknown_write
from carddav.sync.tombstones import requeue_as_new
from carddav.sync.unsent import unsent_mapping_ids
from carddav.sync.write_results import finish_found_write, finish_write
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.photos.files import photo_hash, read_photo
from people.vcard import VCardError

#: If-Match for a card without an ETag: the card must exist.
ANY_VERSION = "*"

_PHOTO_NAME = CompiledQuery(
    lambda owner_id, mapping_id: Mapping.objects.owned_by(owner_id).filter(pk=mapping_id).values_list("person__photo")
)
_INTENTS = CompiledQuery(
    lambda owner_id, mapping_id: JournalEntry.objects.owned_by(owner_id).filter(mapping=mapping_id).order_by("id")
)


@dataclass(slots=True)
class PushState:
    """What later cards of the push need to know: what the server refuses in general, how many contacts were not sent
    for that reason, and which contacts were retried.

    `resent` are intents that an earlier run may have sent already.
    """

    is_read_only: bool = False
    is_full: bool = False
    is_locking: bool = False
    unsent_count: int = 0
    without_photo: set[UUID] = field(default_factory=set)
    retried: set[UUID] = field(default_factory=set)
    resent: set[UUID] = field(default_factory=set)


def push_all(context: Context, only: Sequence[UUID] | None = None) -> None:
    """Send the unsent mappings, or `only` those given, a few at a time, and read back the written cards."""
    mapping_ids = unsent_mapping_ids(context.connection) if only is None else list(only)
    state = PushState(
        is_locking=locks_whole_book(context.changes.token if context.changes else context.connection.sync_token)
    )
    stream = iter(mapping_ids)
    done = 0
    # A batch is as large as the number of parallel requests: if the run is killed, no more outcomes than these are
    # unknown.
    while batch := list(islice(stream, 1 if state.is_locking else context.parallel)):
        context.report_progress("pushing", f"Sending {len(mapping_ids)} contacts", done, len(mapping_ids))
        _push_batch(context, batch, state)
        done += len(batch)
    if state.unsent_count:
        reason = "The address book can only be read" if state.is_read_only else "The server has no room"
        context.tally.add_error(f"{reason}: {state.unsent_count} contacts were not sent.")
    read_back(context)


def _push_batch(context: Context, mapping_ids: Sequence[UUID], state: PushState) -> None:
    intents = [intent for key in mapping_ids if (intent := prepare_intent(context, key, state)) is not None]
    results = list(zip(intents, _send_requests(context, intents), strict=True))
    # Successful writes first: if another reply ends the run, their outcome is recorded.
    results.sort(key=lambda pair: not (isinstance(pair[1], WriteResult) and pair[1].outcome is Outcome.DONE))
    failure: DavError | None = None
    for intent, result in results:
        if isinstance(result, WriteResult):
            _handle_reply(context, intent, result, state)
        else:
            _withdraw_intent(intent, state)  # a DavError means that nothing was written
            failure = failure or result
    # The error ends the run, so it is raised only after all other outcomes of the batch are recorded.
    if failure is not None:
        raise failure


def _send_requests(context: Context, intents: list[JournalEntry]) -> list[WriteResult | DavError]:
    if not intents:
        return []

    def send(intent: JournalEntry) -> WriteResult | DavError:
        try:
            if intent.op == JournalOp.CREATE:
                return context.book.create(intent.href.rpartition("/")[2], intent.body)
            return context.book.put(intent.href, intent.body, intent.if_match or ANY_VERSION)
        except DavError as error:
            return error  # not raised here: the outcomes of the other requests must be recorded first

    if len(intents) == 1 or context.parallel == 1:
        return [send(intent) for intent in intents]
    # The pool's threads do the waiting; this thread, which may serve a request, is marked as waiting.
    with external_wait(), ThreadPoolExecutor(context.parallel) as pool:
        return list(pool.map(send, intents))


def prepare_intent(context: Context, mapping_id: UUID, state: PushState) -> JournalEntry | None:
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


def _try_prepare(context: Context, mapping_id: UUID, state: PushState) -> JournalEntry | None:
    parameters = {"owner_id": context.owner.pk, "mapping_id": mapping_id}
    name = next((photo for (photo,) in _PHOTO_NAME.rows(**parameters)), None)
    photo = read_photo(name) if name else None  # file access stays outside of the transaction
    with context.write() as write:
        if (mapping := load_mapping(context, mapping_id)) is None:
            return None
        contact = load_local_contact(context.owner, mapping.person_id)
        # Only one open write per card: the outcome of the earlier one decides what the next may replace.
        if intents := _INTENTS.instances(**parameters):
            return _resend_create(context, intents[0], contact, state)
        # If the photo was replaced since it was read, the person has a higher revision, and the next run sends it.
        if is_sync_suspended(contact) or contact.fields["photo"] != (photo_hash(name) if name else None):
            return None
        try:
            draft = draft_card(
                context, mapping, contact, photo, write.revision, with_photo=mapping.pk not in state.without_photo
            )
        except VCardError as error:
            quarantine(context, mapping, "", f"its card cannot be read: {error}")
            draft = None
        # A card that the server refused is not sent again with the same content.
        is_refused_before = (
            mapping.status == MappingStatus.QUARANTINED and draft is not None and mapping.body_hash == draft.hash
        )
        if draft is None or (is_refused_before and is_backing_off(mapping, write.now)):
            return None
        is_new = not mapping.remote_raw
        # A full server may still accept an update of an existing card.
        if state.is_read_only or (is_new and state.is_full):
            state.unsent_count += 1
            return None
        return _create_intent(context, write, mapping, contact, draft)


def _resend_create(
    context: Context, intent: JournalEntry, contact: LocalContact, state: PushState
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
    context: Context, write: AccountWrite, mapping: Mapping, contact: LocalContact, draft: Draft
) -> JournalEntry:
    is_new = not mapping.remote_raw
    # The href is chosen and saved before the request, so that the card can be looked for after a crash. The mapping
    # keeps it whatever the server answers: with a new href a delayed request would create a second card.
    if is_new and not mapping.href:
        mapping.href = context.book.new_href(f"{uuid4()}.vcf")
        mapping.save(update_fields=["href", "updated_at"])
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
        body=draft.render(format_rev(write.now)),
        body_hash=draft.hash,
        fields=draft.base_local,
        local_rev=write.revision,
    )


def _handle_reply(context: Context, intent: JournalEntry, written: WriteResult, state: PushState) -> None:
    """Act on the server's reply (table in docs/carddav.md)."""
    match written.outcome:
        case Outcome.DONE:
            finish_write(context, intent, written.href, written.etag)
        case Outcome.UNKNOWN:
            _handle_unknown(context, intent, written, state)
        case Outcome.LOCKED:
            # From here on cards are sent one at a time.
            state.is_locking = True
            _withdraw_intent(intent, state)
            if not _retry_once(context, intent, state):
                context.tally.add_error(f"{_describe(intent)}: the server is busy with it.")
        case Outcome.CHANGED | Outcome.GONE:
            _handle_changed_card(context, intent, written, state)
        case Outcome.READ_ONLY | Outcome.FULL:
            state.is_read_only |= written.outcome is Outcome.READ_ONLY
            state.is_full |= written.outcome is Outcome.FULL
            state.unsent_count += 1
            _withdraw_intent(intent, state)
        case Outcome.TOO_LARGE if _can_retry_without_photo(intent, state):
            _push_batch(context, [*filter(None, [intent.mapping_id])], state)
        case _:
            quarantine_refused(context, intent, written.message)


def _handle_unknown(context: Context, intent: JournalEntry, written: WriteResult, state: PushState) -> None:
    is_undone = resolve_unknown_write(context, intent)
    if is_undone and _retry_once(context, intent, state):
        return
    is_lost = intent.mapping_id in context.unconfirmed_creates and intent.pk in state.resent
    if written.status is not None and written.status >= 500 and (is_undone or is_lost):
        record_server_failure(context, intent, written.status)
    elif is_undone:
        context.tally.add_error(f"{_describe(intent)}: it is not known whether the server took the change.")


def _withdraw_intent(intent: JournalEntry, state: PushState) -> None:
    """Delete the intent of a request that wrote nothing. One that was sent before stays: that request may still
    arrive."""
    if intent.pk not in state.resent:
        intent.delete()


def _retry_once(context: Context, intent: JournalEntry, state: PushState) -> bool:
    """Send the contact again, once in a run; False if it was retried before."""
    if intent.mapping_id is None or intent.mapping_id in state.retried:
        return False
    state.retried.add(intent.mapping_id)
    _push_batch(context, [intent.mapping_id], state)
    return True


def _handle_changed_card(context: Context, intent: JournalEntry, written: WriteResult, state: PushState) -> None:
    """Handle a failed precondition: merge the card and send it once more. If its ETag has not changed, the content was
    refused: some servers answer 412 or 404 for that."""
    found = read_current_card(context.book, intent.href)
    if isinstance(found, Missing):
        context.book.fetch_properties()  # raises BookGoneError if the book itself is gone
        # A create cannot fail because its card is missing, so the server refuses the content.
        if intent.op == JournalOp.CREATE:
            quarantine_refused(context, intent, written.message)
        else:
            hold_remote_deletion(context, intent)
        return
    if intent.op == JournalOp.CREATE:
        # Random names do not collide: either this is our card, or the server has given the name to another one.
        if matches_intent(intent, found):
            finish_found_write(context, intent, found)
        else:
            _requeue_under_new_href(context, intent)
        return
    if same_etag(found.etag, intent.if_match):
        quarantine_refused(context, intent, written.message)
        return
    # The server wrote nothing, so the intent can go before the merge: after a crash the contact is still unsent.
    intent.delete()
    if intent.mapping_id is not None:
        merge_contact(context, intent.mapping_id, found)
        _retry_once(context, intent, state)


def _requeue_under_new_href(context: Context, intent: JournalEntry) -> None:
    """Delete the intent; the next push creates the card under another random name."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None and not mapping.remote_raw:
            requeue_as_new(mapping)


def hold_remote_deletion(context: Context, intent: JournalEntry) -> None:
    """The card is gone and the person was edited: record a conflict."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
            mapping.status = MappingStatus.HELD
            mapping.save()


def quarantine_refused(context: Context, intent: JournalEntry, message: str) -> None:
    """The server refuses the content of the card: quarantine it until the content changes."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            quarantine(context, mapping, intent.body_hash, message)


def quarantine(context: Context, mapping: Mapping, body_hash: str, message: str) -> None:
    """Set the mapping to quarantined, and report it unless it was for the same content. Must be called inside the
    write."""
    is_reported = mapping.status == MappingStatus.QUARANTINED and mapping.body_hash == body_hash
    mapping.status, mapping.error, mapping.body_hash = MappingStatus.QUARANTINED, message[:1000], body_hash
    mapping.failures = 0
    mapping.save()
    if not is_reported:
        name = mapping.person.name
        context.tally.add_error(f"{name} ({mapping.href or 'new'}): {message or 'the server refused it'}"[:500])


def _can_retry_without_photo(intent: JournalEntry, state: PushState) -> bool:
    """Whether to send the card once without its photo: only if the photo is new, so that the server loses nothing."""
    # A photo that the card had before is never left out: the server would delete it.
    mapping, photo = intent.mapping, intent.fields.get("photo")
    if mapping is None or mapping.pk in state.without_photo:
        return False
    if not photo or photo == mapping.base_local.get("photo"):
        return False
    state.without_photo.add(mapping.pk)
    intent.delete()
    return True


def _describe(intent: JournalEntry) -> str:
    return f"{intent.person.name if intent.person else 'A contact'} ({intent.href})"
