"""The journal of writes to the server: the outcome of each, also of those whose reply was lost, and what the server
made of the card, which is read back."""

from uuid import UUID

from django.db.models import QuerySet

from carddav.models import ConflictKind, JournalEntry, JournalOp, JournalState, Mapping, PendingImport, Todo, Tombstone
from carddav.sync.contacts import load_mapping, load_open_conflict, merge_contact, merge_or_report
from carddav.sync.context import CARD_PROBLEM, SyncContext
from carddav.sync.rebase import is_write_applied, rebase_after_other_writes, rebase_after_write
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.etags import same_etag
from contacts_project.kernel.webdav.hrefs import href_key
from contacts_project.kernel.webdav.shapes import Missing, Resource, Unreadable
from people.contents.fields import EMPTY_FIELDS, Fields, remote_fields
from people.contents.merge import Sides
from people.vcard import VCardError, read_card, read_resource

_RECOVERING = define_text("progress_recovering", "Looking what became of the last changes")
_VERIFYING = define_text("progress_verifying", "Reading back %(count)s contacts")


def finish_write(context: SyncContext, intent: JournalEntry, href: str, etag: str | None) -> None:
    """Record a successful write: what was sent is what both sides agree on, until the card is read back."""
    with context.write():
        mapping = load_mapping(context, intent.mapping_id)
        if mapping is None:  # the person was deleted permanently meanwhile
            intent.delete()
            return
        key = href_key(href, context.book.url)
        _delete_listed_rows(context, key)
        # A field in conflict keeps its bases; otherwise the next merge would silently choose one side.
        conflicting = _conflicting_fields(context, mapping)
        card, _ = read_card(intent.body)
        sent = remote_fields(card)
        base_remote = {
            field: mapping.base_remote.get(field) if field in conflicting else sent[field] for field in EMPTY_FIELDS
        }
        # The intent keeps the replaced card: if the run is killed now, recovery needs it to tell our edits from
        # others'.
        text, intent.body = intent.body, mapping.remote_raw
        mapping.record_sent(text, etag, card.uid, href=href, href_key=key)
        mapping.agree((intent.fields, base_remote), intent.local_rev, is_conflict=bool(conflicting))
        context.record_remote_write()
        _update_tombstones(mapping, intent.href_key)
        intent.state, intent.href, intent.href_key = JournalState.DONE, href, key
        intent.save(update_fields=["body", "state", "href", "href_key", "updated_at"])
    context.tally.exported += intent.op == JournalOp.CREATE
    context.tally.updated_remotely += intent.op == JournalOp.UPDATE


def finish_unanswered_write(context: SyncContext, intent: JournalEntry, remote_card: Resource) -> None:
    """Record a write whose reply was lost and that was found applied. Its ETag is unknown, since another client may
    have written meanwhile."""
    intent_id = intent.pk  # None after `finish_write` has deleted the intent, because the person is gone
    finish_write(context, intent, remote_card.href, None)
    finish_read_back(context, intent_id, remote_card, is_late=True)


def finish_read_back(context: SyncContext, intent_id: UUID, remote_card: Resource, *, is_late: bool = False) -> None:
    """Take the card as the server's spelling of what was sent, and merge what other clients have edited since.

    `is_late`: the card is not read right after the write.
    """
    with context.write():
        intent = JournalEntry.objects.owned_by(context.owner).filter(pk=intent_id).first()
        mapping = load_mapping(context, intent.mapping_id) if intent else None
        if intent is None or mapping is None:
            return
        intent.delete()
        # With the ETag of our write no other client can have edited the card: all differences are the server's
        # spelling.
        is_own = mapping.etag is not None and same_etag(mapping.etag, remote_card.etag)
        try:
            card, _ = read_resource(remote_card.text)
        except VCardError as error:
            context.tally.add_error(CARD_PROBLEM.format(href=remote_card.href, reason=error.text))
            return
        sent = Sides(mapping.base_local, remote_fields(read_card(mapping.remote_raw)[0]))
        read_back = remote_fields(card)
        if is_late and not is_own:
            bases = rebase_after_other_writes(parse_fields(intent.body), sent, read_back)
        else:
            bases = Sides(sent.local, rebase_after_write(sent.remote, read_back, is_own=is_own))
        is_edited = bases != Sides(sent.local, read_back)
        for field in _conflicting_fields(context, mapping):
            bases.local[field], bases.remote[field] = sent.local.get(field), mapping.base_remote.get(field)
        mapping.keep_text(remote_card.text, remote_card.etag, card.uid)
        mapping.respell((bases.local, bases.remote))
        if not is_edited:
            _update_tombstones(mapping, mapping.href_key)
    if is_edited:
        merge_contact(context, mapping.pk)


def parse_fields(text: str) -> Fields:
    """The field map of a card; empty if there is no card or it cannot be read."""
    try:
        return remote_fields(read_card(text)[0]) if text else EMPTY_FIELDS
    except VCardError:
        return EMPTY_FIELDS


def _delete_listed_rows(context: SyncContext, href_key: str) -> None:
    """Delete pending imports and Todo rows of our own card, which a listing may have named before the write was
    recorded."""
    listed = {"connection": context.connection, "href_key": href_key}
    PendingImport.objects.owned_by(context.owner).filter(**listed).delete()
    Todo.objects.owned_by(context.owner).filter(**listed).delete()


def _update_tombstones(mapping: Mapping, href_key: str) -> None:
    """Copy the written card to the tombstone of a person who was deleted meanwhile, so that our write is not taken for
    a remote edit."""
    rows = Tombstone.objects.owned_by(mapping.owner_id)
    for tombstone in rows.filter(person=mapping.person_id, href_key=href_key):
        tombstone.href, tombstone.href_key = mapping.href, mapping.href_key
        tombstone.etag, tombstone.remote_raw = mapping.etag, mapping.remote_raw
        tombstone.save(update_fields=["href", "href_key", "etag", "remote_raw"])


def _conflicting_fields(context: SyncContext, mapping: Mapping) -> set[str]:
    """The fields of the contact's open conflict."""
    conflict = load_open_conflict(context, mapping)
    return {field["field"] for field in conflict.fields} if conflict and conflict.kind == ConflictKind.FIELDS else set()


def resolve_unknown_write(context: SyncContext, intent: JournalEntry) -> bool:
    """Ask the server for the outcome of a write; True if it was not applied and may be sent again.

    A new card that is not at its href may have another one, or the request may still arrive. Its mapping is added to
    `unconfirmed_creates` until the book was listed. The intent stays, so that only this text is ever sent under this
    href.
    """
    remote_card = context.book.get_readable(intent.href)
    if isinstance(remote_card, Missing):
        if intent.op == JournalOp.CREATE and intent.mapping_id is not None:
            context.unconfirmed_creates.add(intent.mapping_id)
            return False
        intent.delete()
        return True
    # The card still has the ETag that the write was to replace.
    if intent.if_match is not None and same_etag(remote_card.etag, intent.if_match):
        intent.delete()
        return True
    if matches_intent(intent, remote_card):
        finish_unanswered_write(context, intent, remote_card)
        return False
    intent.delete()
    # Another client has written the card since; this is merged like any of its edits.
    if intent.op == JournalOp.UPDATE and intent.mapping_id is not None:
        merge_or_report(context, intent.mapping_id, remote_card)
    return False


def matches_intent(intent: JournalEntry, remote_card: Resource) -> bool:
    """Whether the card contains what the write sent."""
    if remote_card.text == intent.body:
        return True
    try:
        sent, now = (read_resource(text)[0] for text in (intent.body, remote_card.text))
    except VCardError:
        return False
    # Nobody else can have this UID under a randomly chosen href.
    if intent.op == JournalOp.CREATE and remote_card.key == intent.href_key and now.uid == sent.uid:
        return True
    before = parse_fields(intent.mapping.remote_raw if intent.mapping is not None else "")
    return is_write_applied(before, remote_fields(sent), remote_fields(now))


def _writes(context: SyncContext) -> QuerySet[JournalEntry]:
    return JournalEntry.objects.owned_by(context.owner).filter(connection=context.connection.pk).order_by("id")


def recover(context: SyncContext) -> None:
    """Resolve the writes that an interrupted run has left behind."""
    rows = _writes(context).filter(state=JournalState.PREPARED)
    prepared = list(rows.select_related("mapping"))
    for number, intent in enumerate(prepared):
        context.report_progress("recovering", _RECOVERING, number, len(prepared))
        resolve_unknown_write(context, intent)
    read_back(context, is_late=True)


def read_back(context: SyncContext, *, is_late: bool = False) -> None:
    """Fetch the written cards, 50 a request, and take the server's spelling as their new base.

    `is_late`: they were written by an earlier run, so that other clients may have edited them since.
    """
    unverified = dict(_writes(context).filter(state=JournalState.DONE).values_list("href", "pk"))
    if not unverified:
        return
    context.report_progress("verifying", _VERIFYING.format(count=len(unverified)), 0, len(unverified))
    for result in context.book.fetch(list(unverified)):
        if isinstance(result, Resource):
            finish_read_back(context, unverified[result.href], result, is_late=is_late)
        elif isinstance(result, Unreadable):
            context.tally.add_error(CARD_PROBLEM.format(href=result.href, reason=result.message))
            # The write itself has succeeded; only the server's spelling stays unknown.
            JournalEntry.objects.owned_by(context.owner).filter(
                pk=unverified[result.href], state=JournalState.DONE
            ).delete()
        else:
            _discard_missing_write(context, unverified[result.href])


def _discard_missing_write(context: SyncContext, intent_id: UUID) -> None:
    """A card that was just written is not there: it was deleted or moved meanwhile. The next listing shows which."""
    with context.write():
        intent = JournalEntry.objects.owned_by(context.owner).select_related("mapping").filter(pk=intent_id).first()
        if intent is None:
            return
        if intent.op == JournalOp.CREATE and intent.mapping is not None:
            # Under the same href: the card may exist and not be visible yet.
            intent.mapping.requeue(intent.href)
        intent.delete()
