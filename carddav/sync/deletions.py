"""Deletions: people whose cards are gone from the server, and cards of people who were deleted here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from carddav.client.book import WriteOutcome
from carddav.models import (
    Conflict,
    ConflictKind,
    Connection,
    Mapping,
    MappingStatus,
    OtherCard,
    Pause,
    PendingImport,
    RunAction,
    Tombstone,
    TombstoneState,
)
from carddav.sync.contacts import is_sync_suspended, load_mapping, load_open_conflict, open_conflict, plan_merge
from carddav.sync.context import SyncContext
from carddav.sync.index import Index, IndexRow
from carddav.sync.pictures import CardPicture
from carddav.sync.plan import (
    BookState,
    SideState,
    SyncAction,
    SyncPlan,
    is_deletion_guarded,
    plan_card_deletion,
    plan_remote_deletion,
)
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.hrefs import href_key
from contacts_project.kernel.webdav.shapes import Missing, Resource
from people.contents.contact import LocalContact, load_local_contact
from people.contents.fields import remote_fields
from people.services.people import delete_people
from people.vcard import VCardError, read_card, read_resource

_MANY_GONE = define_text(
    "many_contacts_gone",
    "%(count)s contacts are gone from the address book. Nothing was deleted here: each is a conflict to resolve.",
)
_NOT_DELETED = define_text("card_not_deleted", "%(href)s: it could not be deleted on the server. %(reason)s")

_ASKING = define_text("progress_asking", "Asking for %(count)s contacts that are not listed")
_DELETING = define_text("progress_deleting", "Deleting %(count)s contacts")


def apply_remote_deletions(context: SyncContext, index: Index, missing: dict[str, IndexRow]) -> list[Resource]:
    """Handle missing cards, each confirmed by the server; returns those that exist after all."""
    moved = _find_relinked(context, missing)
    missing = {key: row for key, row in missing.items() if key not in moved}
    if not missing:
        return []
    context.report_progress("listing", _ASKING.format(count=len(missing)), 0, len(missing))
    # Listings may omit cards that exist, so only a 404 or 410 for the card itself counts as a deletion.
    results = list(context.book.fetch([row.href for row in missing.values()]))
    key_by_href = {row.href: key for key, row in missing.items()}
    gone = [missing[key_by_href[result.href]] for result in results if isinstance(result, Missing)]
    existing = [result for result in results if isinstance(result, Resource)]
    mapped = [row for row in gone if row.kind == "mapping"]
    guarded = is_deletion_guarded(
        BookState(
            contacts=len(index.mapped),
            missing_contacts=len(mapped),
            cards=len(index.cards),
            missing_cards=len(gone),
            is_same_book=_is_same_book(context.connection, index),
        )
    )
    if guarded:
        context.tally.messages.append(_MANY_GONE.format(count=len(mapped)))
    context.tally.pending_gone += sum(row.kind == "pending" for row in gone)
    context.act(partial(_delete_unmapped_rows, context, [row for row in gone if row.kind != "mapping"]))
    for row in mapped:
        _apply_remote_deletion(context, row, guarded=guarded)
    if guarded:
        # Automatic runs pause until the user has decided: each of them would find the same cards gone.
        rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk)
        context.act(partial(rows.update, pause=Pause.DELETIONS_HELD))
    return existing


def _find_relinked(context: SyncContext, missing: dict[str, IndexRow]) -> set[str]:
    """The keys whose mapping has another href by now: the card was found there."""
    ids = [row.pk for row in missing.values() if row.kind == "mapping"]
    current_keys = set(Mapping.objects.owned_by(context.owner).filter(pk__in=ids).values_list("href_key", flat=True))
    found_elsewhere = {key for key in missing if key in context.relinked}
    return found_elsewhere | {key for key, row in missing.items() if row.kind == "mapping" and key not in current_keys}


def _is_same_book(connection: Connection, index: Index) -> bool:
    """Whether the mapped cards are below the open book's URL. In another book every href would seem gone."""
    # The key of a long href is a hash, which does not contain the folder.
    folder = href_key(connection.book_url, connection.book_url)
    return all(key.startswith((folder, "sha256:")) for key, row in index.cards.items() if row.kind == "mapping")


def _delete_unmapped_rows(context: SyncContext, gone: Sequence[IndexRow]) -> None:
    """Remove the rows of cards that are no contacts here."""
    ids = {kind: [row.pk for row in gone if row.kind == kind] for kind in ("pending", "other", "tombstone")}
    PendingImport.objects.owned_by(context.owner).filter(pk__in=ids["pending"]).delete()
    OtherCard.objects.owned_by(context.owner).filter(pk__in=ids["other"]).delete()
    Tombstone.objects.owned_by(context.owner).filter(pk__in=ids["tombstone"]).update(state=TombstoneState.GONE)


@dataclass(frozen=True, slots=True)
class _MissingContact:
    """A contact whose card is gone. `record` is its open conflict."""

    mapping: Mapping
    contact: LocalContact
    record: Conflict | None


def _apply_remote_deletion(context: SyncContext, row: IndexRow, *, guarded: bool) -> None:
    def read() -> _MissingContact | None:
        mapping = load_mapping(context, row.pk)
        if mapping is None:
            return None
        contact = load_local_contact(context.owner, mapping.person_id)
        return _MissingContact(mapping, contact, load_open_conflict(context, mapping))

    def plan(missing: _MissingContact) -> SyncPlan:
        return plan_remote_deletion(
            _local_state(context, missing.mapping, missing.contact),
            is_guarded=guarded,
            is_held=missing.mapping.status == MappingStatus.HELD,
            has_conflict=missing.record is not None,
            mapping_id=missing.mapping.pk,
        )

    context.decide(read, plan, partial(_apply_sync_plan, context))


def _apply_sync_plan(context: SyncContext, write: AccountWrite, missing: _MissingContact, sync_plan: SyncPlan) -> None:
    mapping, person = missing.mapping, missing.contact.person
    match sync_plan.action:
        case SyncAction.TRASH:
            # Before the deletion, which would leave the tombstone of a card that still exists (carddav.extension).
            end_mapping(context, mapping, TombstoneState.GONE)
            delete_people(owner=context.owner, person_ids=[mapping.person_id], options={}, now=write.now)
            # The deletion has raised the revision, which the undo compares.
            person.refresh_from_db(fields=["revision"])
            context.record_change(person, RunAction.TRASHED, {})
        case SyncAction.CONFLICT_REMOTE_DELETED:
            open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
            mapping.hold()
        case SyncAction.FORGET:
            end_mapping(context, mapping, TombstoneState.GONE)
        case _:
            pass


def _local_state(context: SyncContext, mapping: Mapping, contact: LocalContact) -> SideState:
    if is_sync_suspended(contact):
        return SideState.SUSPENDED
    return SideState.CHANGED if _is_edited(context, mapping, contact) else SideState.UNCHANGED


def _is_edited(context: SyncContext, mapping: Mapping, contact: LocalContact) -> bool:
    """Whether the person has values that the missing card never had."""
    try:
        remote = remote_fields(read_card(mapping.remote_raw)[0])
    except VCardError:
        return True
    merge_plan = plan_merge(mapping, contact, remote, CardPicture(remote["photo"]), context.connection.name_format)
    return bool(merge_plan.is_unsent or merge_plan.merged.conflicts)


def end_mapping(context: SyncContext, mapping: Mapping, state: TombstoneState) -> None:
    """Replace the mapping by a tombstone. Must be called inside the write."""
    Conflict.objects.owned_by(context.owner).filter(mapping=mapping, resolved_at=None).delete()
    mapping.put_tombstone(state)
    mapping.delete()


def delete_cards(context: SyncContext) -> None:
    """Delete the cards of people who were deleted with deleteFromCardDav, unless they were edited on the server."""
    rows = Tombstone.objects.owned_by(context.owner).filter(connection=context.connection.pk)
    tombstones = {row.href: row for row in rows.filter(state=TombstoneState.TO_DELETE).order_by("id")}
    if not tombstones:
        return
    context.report_progress("pushing", _DELETING.format(count=len(tombstones)), 0, len(tombstones))
    for number, result in enumerate(context.book.fetch(list(tombstones))):
        context.report_progress("pushing", _DELETING.format(count=len(tombstones)), number, len(tombstones))
        tombstone = tombstones[result.href]
        if isinstance(result, Missing):
            context.act(partial(_finish_card_deletion, context, tombstone))
        elif isinstance(result, Resource):
            _delete_card(context, tombstone, result)


def _delete_card(context: SyncContext, tombstone: Tombstone, remote_card: Resource) -> None:
    remote = SideState.CHANGED if _is_edited_remotely(tombstone.remote_raw, remote_card.text) else SideState.UNCHANGED
    sync_plan = plan_card_deletion(remote, can_ask=_can_ask(context, tombstone))
    context.carry_out(
        lambda: [sync_plan], partial(_delete_as_planned, context, tombstone, remote_card, sync_plan.action)
    )


def _can_ask(context: SyncContext, tombstone: Tombstone) -> bool:
    """Whether a conflict may be opened: the contact still has a mapping, and no open conflict."""
    mapping = _mapping_of(context, tombstone)
    return mapping is not None and load_open_conflict(context, mapping) is None


def _mapping_of(context: SyncContext, tombstone: Tombstone) -> Mapping | None:
    rows = Mapping.objects.owned_by(context.owner).filter(connection=context.connection)
    return rows.filter(href_key=tombstone.href_key).first()


def _delete_as_planned(context: SyncContext, tombstone: Tombstone, remote_card: Resource, action: SyncAction) -> None:
    if action is SyncAction.CONFLICT_LOCAL_DELETED:
        _open_local_deleted_conflict(context, tombstone, remote_card)
        return
    # If-Match with the ETag just read: an edit made since then is not deleted unseen.
    written = context.book.delete(remote_card.href, remote_card.etag)
    if written.outcome in {WriteOutcome.DONE, WriteOutcome.GONE}:
        _finish_card_deletion(context, tombstone)
        context.tally.updated_remotely += written.outcome is WriteOutcome.DONE
    elif written.outcome is WriteOutcome.CHANGED:
        newest = context.book.get_readable(remote_card.href)
        if isinstance(newest, Resource):
            _open_local_deleted_conflict(context, tombstone, newest)
    # UNKNOWN and LOCKED leave the tombstone in TO_DELETE: the next run asks again.
    elif written.outcome not in {WriteOutcome.UNKNOWN, WriteOutcome.LOCKED}:
        context.tally.add_error(_NOT_DELETED.format(href=remote_card.href, reason=written.message or ""))


def _is_edited_remotely(before: str, now: str) -> bool:
    if before == now:
        return False
    try:
        return remote_fields(read_card(before)[0]) != remote_fields(read_resource(now)[0])
    except VCardError:
        return True


def _finish_card_deletion(context: SyncContext, tombstone: Tombstone) -> None:
    """Record that the card is gone, whoever deleted it."""
    with context.write():
        Mapping.objects.owned_by(context.owner).filter(
            connection=context.connection, href_key=tombstone.href_key
        ).delete()
        Tombstone.objects.owned_by(context.owner).filter(pk=tombstone.pk).update(state=TombstoneState.GONE)
        context.record_remote_write()


def _open_local_deleted_conflict(context: SyncContext, tombstone: Tombstone, remote_card: Resource) -> None:
    with context.write():
        # KEPT: the next runs must not delete the card before the user has decided.
        tombstone.etag, tombstone.remote_raw, tombstone.state = remote_card.etag, remote_card.text, TombstoneState.KEPT
        tombstone.save()
        mapping = _mapping_of(context, tombstone)
        if mapping is not None:
            mapping.keep_text(remote_card.text, remote_card.etag, mapping.uid)
            mapping.save()
            is_new = open_conflict(context, mapping, ConflictKind.LOCAL_DELETED, remote_card.text, remote_card.etag)
            context.tally.conflicts += is_new
