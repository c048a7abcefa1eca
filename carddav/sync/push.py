"""What goes to the server: intents first, then the requests, then what came of them (docs/carddav.md).

An intent is committed before its request. Until its outcome is known nothing else is sent for that card; an intent that
is done waits until the card was read back, which tells how the server spells what we sent.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID, uuid4

from carddav.client import DavError, Missing, Outcome, Written, href_key, locks_whole_book, same_etag
from carddav.models import (
    ConflictKind,
    JournalEntry,
    JournalOp,
    Mapping,
    MappingStatus,
)
from carddav.sync.book import read_current_card
from carddav.sync.cards import revision_time
from carddav.sync.contacts import is_sync_suspended, mapping_of, merge_contact, open_conflict
from carddav.sync.context import Context
from carddav.sync.drafts import Draft, NeedsMergeError, draft_of
from carddav.sync.failures import is_resting, note_failure
from carddav.sync.people import LocalSide, load_sides
from carddav.sync.recovery import matches_intent, read_back, resolve_unknown_write
from carddav.sync.tombstones import requeue
from carddav.sync.unsent import unsent_mapping_ids
from carddav.sync.write_results import finish_found_write, finish_write
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.photos.files import photo_hash, read_photo
from people.vcard import VCardError

#: If-Match for a card of which the server gives no ETag: it must only be there.
ANY_VERSION = "*"

_PHOTO = CompiledQuery(
    lambda owner_id, mapping_id: Mapping.objects.owned_by(owner_id).filter(pk=mapping_id).values_list("person__photo")
)
_INTENTS = CompiledQuery(
    lambda owner_id, mapping_id: JournalEntry.objects.owned_by(owner_id).filter(mapping=mapping_id).order_by("id")
)


@dataclass(slots=True)
class PushState:
    """What the server has refused for all cards to come, and which contacts were tried again already. `resent` are the
    intents that an earlier run has sent, too."""

    is_read_only: bool = False
    is_full: bool = False
    is_locking: bool = False
    left_out: int = 0
    without_photo: set[UUID] = field(default_factory=set)
    again: set[UUID] = field(default_factory=set)
    resent: set[UUID] = field(default_factory=set)


def push_all(context: Context, only: Sequence[UUID] | None = None) -> None:
    """Send what differs here, a few at a time, and read back what the server made of it. `only` these mappings."""
    mapping_ids = unsent_mapping_ids(context.connection) if only is None else list(only)
    state = PushState(
        is_locking=locks_whole_book(context.listed.token if context.listed else context.connection.sync_token)
    )
    stream = iter(mapping_ids)
    done = 0
    # As many at a time as are sent at once: no more than these can be of unknown outcome if the run is killed.
    while batch := list(islice(stream, 1 if state.is_locking else context.parallel)):
        context.report_progress("pushing", f"Sending {len(mapping_ids)} contacts", done, len(mapping_ids))
        _push(context, batch, state)
        done += len(batch)
    if state.left_out:
        why = "The address book can only be read" if state.is_read_only else "The server has no room"
        context.tally.fail(f"{why}: {state.left_out} contacts were not sent.")
    read_back(context)


def _push(context: Context, mapping_ids: Sequence[UUID], state: PushState) -> None:
    intents = [intent for key in mapping_ids if (intent := prepare(context, key, state)) is not None]
    answers = list(zip(intents, _send(context, intents), strict=True))
    # First those that are done: if the run ends over another one, these are known.
    answers.sort(key=lambda pair: not (isinstance(pair[1], Written) and pair[1].outcome is Outcome.DONE))
    failure: DavError | None = None
    for intent, answer in answers:
        if isinstance(answer, Written):
            _handle_reply(context, intent, answer, state)
        else:
            _withdraw(intent, state)  # an error says that nothing was written
            failure = failure or answer
    # The error ends the run: raised only now, when all other outcomes of the batch are written down.
    if failure is not None:
        raise failure


def _send(context: Context, intents: list[JournalEntry]) -> list[Written | DavError]:
    if not intents:
        return []

    def one(intent: JournalEntry) -> Written | DavError:
        try:
            if intent.op == JournalOp.CREATE:
                return context.book.create(intent.href.rpartition("/")[2], intent.body)
            return context.book.put(intent.href, intent.body, intent.if_match or ANY_VERSION)
        except DavError as error:
            return error

    if len(intents) == 1 or context.parallel == 1:
        return [one(intent) for intent in intents]
    # The pool has threads of its own, which know nothing of the request: this one says that it waits.
    with external_wait(), ThreadPoolExecutor(context.parallel) as pool:
        return list(pool.map(one, intents))


def prepare(context: Context, mapping_id: UUID, state: PushState) -> JournalEntry | None:
    """Commit the intent of writing a contact's card; None where there is nothing to be sent, or no use in it."""
    try:
        return _prepare(context, mapping_id, state)
    except NeedsMergeError:
        merge_contact(context, mapping_id)
    # Once more after the merge, and only once: a card that keeps on moving is left to the next run.
    try:
        return _prepare(context, mapping_id, state)
    except NeedsMergeError:
        return None


def _prepare(context: Context, mapping_id: UUID, state: PushState) -> JournalEntry | None:
    asked = {"owner_id": context.owner.pk, "mapping_id": mapping_id}
    name = next((photo for (photo,) in _PHOTO.rows(**asked)), None)
    photo = read_photo(name) if name else None  # outside the transaction
    with context.write() as write:
        if (mapping := mapping_of(context, mapping_id)) is None:
            return None
        side = load_sides(context.owner, [mapping.person_id])[mapping.person_id]
        # One write of a card at a time: what became of the one before decides what the next may replace.
        if intents := _INTENTS.instances(**asked):
            return _again(context, intents[0], side, state)
        # A photo that was replaced since it was read raised the revision: the next run sees it as unsent.
        if is_sync_suspended(side) or side.fields["photo"] != (photo_hash(name) if name else None):
            return None
        try:
            draft = draft_of(
                context, mapping, side, photo, write.revision, with_photo=mapping.pk not in state.without_photo
            )
        except VCardError as error:
            quarantine(context, mapping, "", f"its card cannot be read: {error}")
            draft = None
        # What the server has refused is sent again once it says something else, not before.
        is_known = mapping.status == MappingStatus.QUARANTINED and draft is not None and mapping.body_hash == draft.hash
        if draft is None or (is_known and is_resting(mapping, write.now)):
            return None
        is_new = not mapping.remote_raw
        # A full book may still take another text of a card that it has, but no further card.
        if state.is_read_only or (is_new and state.is_full):
            state.left_out += 1
            return None
        return _intent(context, write, mapping, side, draft)


def _again(context: Context, intent: JournalEntry, side: LocalSide, state: PushState) -> JournalEntry | None:
    """The intent of a new card that is neither where it was put nor in the listing, to be sent as it is: of two that
    arrive under one name the server takes one. None of any other. Inside the write."""
    if intent.mapping_id not in context.unfound:
        return None
    context.unfound.discard(intent.mapping_id)
    if is_sync_suspended(side):
        intent.delete()  # the mapping keeps the name
        return None
    if state.is_read_only or state.is_full:
        state.left_out += 1
        return None
    state.resent.add(intent.pk)
    return intent


def _intent(context: Context, write: AccountWrite, mapping: Mapping, side: LocalSide, draft: Draft) -> JournalEntry:
    is_new = not mapping.remote_raw
    # The name is ours and known before the request: after a crash the card is looked for under it. The mapping keeps it
    # whatever the server answers, so that a request that comes late makes no second card.
    if is_new and not mapping.href:
        mapping.href = context.book.new_href(f"{uuid4()}.vcf")
        mapping.save(update_fields=["href", "updated_at"])
    href = mapping.href
    return JournalEntry.objects.create(
        owner=context.owner,
        connection=context.connection,
        mapping=mapping,
        person=side.person,
        op=JournalOp.CREATE if is_new else JournalOp.UPDATE,
        href=href,
        href_key=href_key(href, context.book.url),
        uid=side.person.uid if is_new else mapping.uid,
        if_match=None if is_new else mapping.etag,
        body=draft.text(revision_time(write.now)),
        body_hash=draft.hash,
        fields=draft.base_local,
        local_rev=write.revision,
    )


def _handle_reply(context: Context, intent: JournalEntry, written: Written, state: PushState) -> None:
    """What a reply means for the contact (docs/carddav.md has the table)."""
    match written.outcome:
        case Outcome.DONE:
            finish_write(context, intent, written.href, written.etag)
        case Outcome.UNKNOWN:
            _handle_unknown(context, intent, written, state)
        case Outcome.LOCKED:
            state.is_locking = True
            _withdraw(intent, state)
            if not _try_again(context, intent, state):
                context.tally.fail(f"{_name(intent)}: the server is busy with it.")
        case Outcome.CHANGED | Outcome.GONE:
            _handle_changed_card(context, intent, written, state)
        case Outcome.READ_ONLY | Outcome.FULL:
            state.is_read_only |= written.outcome is Outcome.READ_ONLY
            state.is_full |= written.outcome is Outcome.FULL
            state.left_out += 1
            _withdraw(intent, state)
        case Outcome.TOO_LARGE if _can_retry_without_photo(intent, state):
            _push(context, [*filter(None, [intent.mapping_id])], state)
        case _:
            refuse(context, intent, written.message)


def _handle_unknown(context: Context, intent: JournalEntry, written: Written, state: PushState) -> None:
    is_undone = resolve_unknown_write(context, intent)
    if is_undone and _try_again(context, intent, state):
        return
    is_lost = intent.mapping_id in context.unfound and intent.pk in state.resent
    if written.status is not None and written.status >= 500 and (is_undone or is_lost):
        note_failure(context, intent, written.status)
    elif is_undone:
        context.tally.fail(f"{_name(intent)}: it is not known whether the server took the change.")


def _withdraw(intent: JournalEntry, state: PushState) -> None:
    """This request has written nothing; an earlier one for the same card may still do so."""
    if intent.pk not in state.resent:
        intent.delete()


def _try_again(context: Context, intent: JournalEntry, state: PushState) -> bool:
    """Once in a run."""
    if intent.mapping_id is None or intent.mapping_id in state.again:
        return False
    state.again.add(intent.mapping_id)
    _push(context, [intent.mapping_id], state)
    return True


def _handle_changed_card(context: Context, intent: JournalEntry, written: Written, state: PushState) -> None:
    """The card is not what it was: merge it and send once more. Where it did not move, the content was refused: some
    say 412 or 404 of that."""
    found = read_current_card(context.book, intent.href)
    if isinstance(found, Missing):
        context.book.look()  # raises where the book itself is gone
        if intent.op == JournalOp.CREATE:
            refuse(context, intent, written.message)
        else:
            hold(context, intent)
        return
    if intent.op == JournalOp.CREATE:
        # Random names do not clash: either it is ours, or this server gave the name to another one.
        if matches_intent(intent, found):
            finish_found_write(context, intent, found)
        else:
            _take_another_name(context, intent)
        return
    if same_etag(found.etag, intent.if_match):
        refuse(context, intent, written.message)
        return
    intent.delete()
    if intent.mapping_id is not None:
        merge_contact(context, intent.mapping_id, found)
        _try_again(context, intent, state)


def _take_another_name(context: Context, intent: JournalEntry) -> None:
    with context.write():
        mapping = mapping_of(context, intent.mapping_id)
        intent.delete()
        if mapping is not None and not mapping.remote_raw:
            requeue(mapping)


def hold(context: Context, intent: JournalEntry) -> None:
    """The card is gone, and the person was edited here: somebody has to decide."""
    with context.write():
        mapping = mapping_of(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
            mapping.status = MappingStatus.HELD
            mapping.save()


def refuse(context: Context, intent: JournalEntry, message: str) -> None:
    """The server does not take this card's content: not sent again until that changes."""
    with context.write():
        mapping = mapping_of(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            quarantine(context, mapping, intent.body_hash, message)


def quarantine(context: Context, mapping: Mapping, body_hash: str, message: str) -> None:
    """Inside the write."""
    is_known = mapping.status == MappingStatus.QUARANTINED and mapping.body_hash == body_hash
    mapping.status, mapping.error, mapping.body_hash = MappingStatus.QUARANTINED, message[:1000], body_hash
    mapping.failures = 0
    mapping.save()
    if not is_known:
        name = mapping.person.name
        context.tally.fail(f"{name} ({mapping.href or 'new'}): {message or 'the server refused it'}"[:500])


def _can_retry_without_photo(intent: JournalEntry, state: PushState) -> bool:
    """Once, where the picture is ours and new: the rest of the card is more than nothing."""
    if intent.mapping_id is None or intent.mapping_id in state.without_photo or not _adds_photo(intent):
        return False
    state.without_photo.add(intent.mapping_id)
    intent.delete()
    return True


def _adds_photo(intent: JournalEntry) -> bool:
    before = intent.mapping.base_local.get("photo") if intent.mapping is not None else None
    return bool(intent.fields.get("photo")) and intent.fields["photo"] != before


def _name(intent: JournalEntry) -> str:
    return f"{intent.person.name if intent.person else 'A contact'} ({intent.href})"
