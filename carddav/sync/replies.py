"""Acts on the server's replies to cards that were sent (table in docs/carddav.md)."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from carddav.client.book import WriteOutcome, WriteResult
from carddav.models import ConflictKind, HeldBack, JournalEntry, JournalOp, Mapping
from carddav.models.mapping import MAX_TRIES
from carddav.sync.contacts import load_mapping, merge_or_report, open_conflict
from carddav.sync.context import SyncContext
from carddav.sync.journal import finish_unanswered_write, finish_write, matches_intent, resolve_unknown_write
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.etags import same_etag
from contacts_project.kernel.webdav.shapes import Missing

_NOT_SENT = define_text("card_not_sent", "%(name)s (%(href)s): %(reason)s")
_NEW_NOT_SENT = define_text("new_card_not_sent", "%(name)s (new): %(reason)s")
_LATER = define_text("card_tried_later", "%(name)s: %(reason)s It is sent again later, or once it changes.")
_NEXT_RUN = define_text("card_tried_next_run", "%(name)s: %(reason)s The next run tries again.")
_SERVER_FAILED = define_text("server_failed", "The server failed with status %(status)d.")
_REFUSED_FOR_NOW = define_text(
    "card_refused_for_now",
    "The server refused the card with status %(status)d, though nobody has changed it there.",
)
_CARD_LOCKED = define_text("card_is_locked", "The server was busy with this card.")
_REFUSED = define_text("server_refused_card", "the server refused it")
_NO_ROOM = define_text("no_room_for_card", "The server has no room for this card.")
_NO_RIGHT = define_text("no_right_to_write", "The address book can only be read.")
_UNKNOWN_CHANGE = define_text("change_unknown", "%(name)s: it is not known whether the server took the change.")


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

    def retry_once(self, intent: JournalEntry) -> bool:
        """Whether to send the contact again, once in a run; False if it was retried before."""
        if intent.mapping_id is None or intent.mapping_id in self.retried:
            return False
        self.retried.add(intent.mapping_id)
        return True

    def withdraw(self, intent: JournalEntry) -> None:
        """Delete the intent of a request that wrote nothing. One that was sent before stays: that request may still
        arrive."""
        if intent.pk is not None and intent.pk not in self.resent:
            intent.delete()

    def hold_back_unsent(self, mapping: Mapping, body_hash: str, now: dt.datetime) -> None:
        """Hold a card back since the server has no room, or the book cannot be written. Must be called inside the
        write. A push reports all of them with one message."""
        code, reason = (HeldBack.READ_ONLY, _NO_RIGHT) if self.is_read_only else (HeldBack.NO_SPACE, _NO_ROOM)
        if (mapping.code, mapping.body_hash) != (code, body_hash):
            mapping.hold_back(code, reason, body_hash, now)


def handle_reply(context: SyncContext, intent: JournalEntry, written: WriteResult, state: PushState) -> bool:
    """Act on the server's reply (table in docs/carddav.md); whether to send the contact again now."""
    match written.outcome:
        case WriteOutcome.DONE:
            finish_write(context, intent, written.href, written.etag)
        case WriteOutcome.UNKNOWN:
            return _handle_unknown(context, intent, written, state)
        case WriteOutcome.LOCKED:
            # From here on cards are sent one at a time.
            state.is_locking = True
            state.withdraw(intent)
            if state.retry_once(intent):
                return True
            hold_back_for_now(context, intent, HeldBack.LOCKED, _CARD_LOCKED)
        case WriteOutcome.CHANGED | WriteOutcome.GONE:
            return _handle_changed_card(context, intent, written, state)
        case WriteOutcome.READ_ONLY | WriteOutcome.FULL:
            _handle_refused_writes(context, intent, written, state)
        case WriteOutcome.TOO_LARGE if _can_retry_without_photo(intent, state):
            return True
        case _:
            _hold_back_content(context, intent, written)
    return False


def _handle_unknown(context: SyncContext, intent: JournalEntry, written: WriteResult, state: PushState) -> bool:
    is_undone = resolve_unknown_write(context, intent)
    if is_undone and state.retry_once(intent):
        return True
    is_lost = intent.mapping_id in context.unconfirmed_creates and intent.pk in state.resent
    if written.status is not None and written.status >= 500 and (is_undone or is_lost):
        hold_back_for_now(context, intent, HeldBack.SERVER_ERROR, _SERVER_FAILED.format(status=written.status))
    elif is_undone:
        name = intent.person.name if intent.person else "A contact"
        context.tally.add_error(_UNKNOWN_CHANGE.format(name=f"{name} ({intent.href})"))
    return False


def _handle_refused_writes(context: SyncContext, intent: JournalEntry, written: WriteResult, state: PushState) -> None:
    """The server refuses more than this card: hold it back, and let later cards of the push not be sent."""
    state.is_read_only |= written.outcome is WriteOutcome.READ_ONLY
    state.is_full |= written.outcome is WriteOutcome.FULL
    state.unsent_count += 1
    with context.write() as write:
        mapping = load_mapping(context, intent.mapping_id)
        if mapping is not None:
            state.hold_back_unsent(mapping, intent.body_hash, write.now)
    state.withdraw(intent)


def _handle_changed_card(context: SyncContext, intent: JournalEntry, written: WriteResult, state: PushState) -> bool:
    """Handle a failed precondition: merge the card and send it once more. If the card is there with the ETag that we
    named, or a new card cannot be missing, the refusal may pass: a later run tries again."""
    remote_card = context.book.get_readable(intent.href)
    if isinstance(remote_card, Missing):
        context.book.fetch_properties()  # raises CollectionGoneError if the book itself is gone
        if intent.op == JournalOp.CREATE:
            _hold_back_passing(context, intent, written, state)
        else:
            _hold_remote_deletion(context, intent)
        return False
    if intent.op == JournalOp.CREATE:
        # Random names do not collide: either this is our card, or the server has given the name to another one.
        if matches_intent(intent, remote_card):
            finish_unanswered_write(context, intent, remote_card)
        else:
            _requeue_under_new_href(context, intent)
        return False
    if same_etag(remote_card.etag, intent.if_match):
        _hold_back_passing(context, intent, written, state)
        return False
    # The server wrote nothing, so the intent can go before the merge: after a crash the contact is still unsent.
    intent.delete()
    is_merged = intent.mapping_id is not None and merge_or_report(context, intent.mapping_id, remote_card)
    return is_merged and state.retry_once(intent)


def _hold_back_passing(context: SyncContext, intent: JournalEntry, written: WriteResult, state: PushState) -> None:
    hold_back_for_now(context, intent, HeldBack.PASSING, _REFUSED_FOR_NOW.format(status=written.status or 0))
    state.withdraw(intent)


def _requeue_under_new_href(context: SyncContext, intent: JournalEntry) -> None:
    """Delete the intent; the next push creates the card under another random name."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None and not mapping.remote_raw:
            mapping.requeue()


def _hold_remote_deletion(context: SyncContext, intent: JournalEntry) -> None:
    """The card is gone and the person was edited: record a conflict."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            is_new = open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
            context.tally.conflicts += is_new
            mapping.hold()


def _hold_back_content(context: SyncContext, intent: JournalEntry, written: WriteResult) -> None:
    """The server refuses the content of the card: hold it back until the content changes."""
    code = HeldBack.TOO_LARGE if written.outcome is WriteOutcome.TOO_LARGE else HeldBack.REFUSED
    with context.write() as write:
        mapping = load_mapping(context, intent.mapping_id)
        intent.delete()
        if mapping is not None:
            hold_back(context, mapping, code, intent.body_hash, written.message or _REFUSED, write.now)


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


def hold_back(
    context: SyncContext, mapping: Mapping, code: HeldBack, body_hash: str, reason: Text, now: dt.datetime
) -> None:
    """Hold the card back, and report it unless it was for the same content. Must be called inside the write."""
    if mapping.hold_back(code, reason, body_hash, now):
        values = {"name": mapping.person.name, "reason": reason}
        text = _NOT_SENT.format(href=mapping.href, **values) if mapping.href else _NEW_NOT_SENT.format(**values)
        context.tally.add_error(text)


def hold_back_for_now(context: SyncContext, intent: JournalEntry, code: HeldBack, reason: Text) -> None:
    """Hold the card back until a later run, once in a run. The server must be known not to have its new content."""
    if intent.mapping_id is None or intent.mapping_id in context.failed_mappings:
        return
    context.failed_mappings.add(intent.mapping_id)
    with context.write() as write:
        mapping = load_mapping(context, intent.mapping_id)
        if mapping is None:
            return
        mapping.hold_back(code, reason, intent.body_hash, write.now)
        name = f"{mapping.person.name} ({intent.href})"
        if mapping.failures >= MAX_TRIES:
            # The outcome is known: the write failed. The mapping keeps the href for the next try.
            JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()
            context.unconfirmed_creates.discard(mapping.pk)
    text = _LATER if mapping.failures >= MAX_TRIES else _NEXT_RUN
    context.tally.add_error(text.format(name=name, reason=reason))
