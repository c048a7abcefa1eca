"""Deletions: people whose cards are gone from the server, and cards of people who were deleted here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from carddav.client import Card as FetchedCard
from carddav.client import Missing, Outcome, href_key
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
from carddav.sync.context import Context
from carddav.sync.index import Index, KnownCard
from carddav.sync.pictures import Picture
from carddav.sync.plan import (
    Action,
    BookState,
    Planned,
    SideState,
    is_deletion_guarded,
    plan_card_deletion,
    plan_remote_deletion,
)
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
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


def apply_remote_deletions(context: Context, index: Index, missing: dict[str, KnownCard]) -> list[FetchedCard]:
    """Handle missing cards, each confirmed by the server; returns those that exist after all."""
    moved = _find_relinked(context, missing)
    missing = {key: known for key, known in missing.items() if key not in moved}
    if not missing:
        return []
    context.report_progress("listing", _ASKING.format(count=len(missing)), 0, len(missing))
    # Listings may omit cards that exist, so only a 404 or 410 for the card itself counts as a deletion.
    results = list(context.book.fetch([known.href for known in missing.values()]))
    key_by_href = {known.href: key for key, known in missing.items()}
    gone = [missing[key_by_href[result.href]] for result in results if isinstance(result, Missing)]
    existing = [result for result in results if isinstance(result, FetchedCard)]
    mapped = [known for known in gone if known.kind == "mapping"]
    guarded = is_deletion_guarded(
        BookState(
            mapped=len(index.mapped),
            mapped_gone=len(mapped),
            known=len(index.cards),
            gone=len(gone),
            is_same_book=_is_same_book(context.connection, index),
        )
    )
    if guarded:
        context.tally.messages.append(_MANY_GONE.format(count=len(mapped)))
    context.tally.pending_gone += sum(known.kind == "pending" for known in gone)
    context.act(partial(_delete_unmapped_rows, context, [known for known in gone if known.kind != "mapping"]))
    for known in mapped:
        _apply_remote_deletion(context, known, guarded=guarded)
    if guarded:
        # Automatic runs pause until the user has decided: each of them would find the same cards gone.
        rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk)
        context.act(partial(rows.update, pause=Pause.DELETIONS_HELD))
    return existing


def _find_relinked(context: Context, missing: dict[str, KnownCard]) -> set[str]:
    """The keys whose mapping has another href by now: the card was found there."""
    ids = [known.row_id for known in missing.values() if known.kind == "mapping"]
    current_keys = set(Mapping.objects.owned_by(context.owner).filter(pk__in=ids).values_list("href_key", flat=True))
    found_elsewhere = {key for key in missing if key in context.relinked}
    return found_elsewhere | {
        key for key, known in missing.items() if known.kind == "mapping" and key not in current_keys
    }


def _is_same_book(connection: Connection, index: Index) -> bool:
    """Whether the mapped cards are below the open book's URL. In another book every href would seem gone."""
    # The key of a long href is a hash, which does not contain the folder.
    folder = href_key(connection.book_url, connection.book_url)
    return all(key.startswith((folder, "sha256:")) for key, known in index.cards.items() if known.kind == "mapping")


def _delete_unmapped_rows(context: Context, gone: Sequence[KnownCard]) -> None:
    """Remove the rows of cards that are no contacts here."""
    ids = {kind: [known.row_id for known in gone if known.kind == kind] for kind in ("pending", "other", "tombstone")}
    PendingImport.objects.owned_by(context.owner).filter(pk__in=ids["pending"]).delete()
    OtherCard.objects.owned_by(context.owner).filter(pk__in=ids["other"]).delete()
    Tombstone.objects.owned_by(context.owner).filter(pk__in=ids["tombstone"]).update(state=TombstoneState.GONE)


@dataclass(frozen=True, slots=True)
class _GoneContact:
    """A contact whose card is gone. `record` is its open conflict."""

    mapping: Mapping
    contact: LocalContact
    record: Conflict | None


def _apply_remote_deletion(context: Context, known: KnownCard, *, guarded: bool) -> None:
    def read() -> _GoneContact | None:
        mapping = load_mapping(context, known.row_id)
        if mapping is None:
            return None
        contact = load_local_contact(context.owner, mapping.person_id)
        return _GoneContact(mapping, contact, load_open_conflict(context, mapping))

    def plan(gone: _GoneContact) -> Planned:
        return plan_remote_deletion(
            _local_state(context, gone.mapping, gone.contact),
            is_guarded=guarded,
            is_held=gone.mapping.status == MappingStatus.HELD,
            has_conflict=gone.record is not None,
            mapping_id=gone.mapping.pk,
        )

    context.decide(read, plan, partial(_apply_planned_deletion, context))


def _apply_planned_deletion(context: Context, write: AccountWrite, gone: _GoneContact, planned: Planned) -> None:
    mapping, person = gone.mapping, gone.contact.person
    match planned.action:
        case Action.TRASH:
            # Before the deletion, which would leave the tombstone of a card that still exists (carddav.extension).
            end_mapping(context, mapping, TombstoneState.GONE)
            delete_people(owner=context.owner, person_ids=[mapping.person_id], options={}, now=write.now)
            # The deletion has raised the revision, which the undo compares.
            person.refresh_from_db(fields=["revision"])
            context.record_change(person, RunAction.TRASHED, {})
        case Action.CONFLICT_REMOTE_DELETED:
            open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
            mapping.hold()
        case Action.FORGET:
            end_mapping(context, mapping, TombstoneState.GONE)
        case _:
            pass


def _local_state(context: Context, mapping: Mapping, contact: LocalContact) -> SideState:
    if is_sync_suspended(contact):
        return SideState.SUSPENDED
    return SideState.CHANGED if _is_edited(context, mapping, contact) else SideState.UNCHANGED


def _is_edited(context: Context, mapping: Mapping, contact: LocalContact) -> bool:
    """Whether the person has values that the missing card never had."""
    try:
        remote = remote_fields(read_card(mapping.remote_raw)[0])
    except VCardError:
        return True
    merge_plan = plan_merge(mapping, contact, remote, Picture(remote["photo"]), context.connection.name_format)
    return bool(merge_plan.is_unsent or merge_plan.merged.conflicts)


def end_mapping(context: Context, mapping: Mapping, state: TombstoneState) -> None:
    """Replace the mapping by a tombstone. Must be called inside the write."""
    Conflict.objects.owned_by(context.owner).filter(mapping=mapping, resolved_at=None).delete()
    mapping.put_tombstone(state)
    mapping.delete()


def delete_cards(context: Context) -> None:
    """Delete the cards of people who were deleted with deleteFromCardDav, unless they were edited on the server."""
    rows = Tombstone.objects.owned_by(context.owner).filter(connection=context.connection.pk)
    tombstones = {row.href: row for row in rows.filter(state=TombstoneState.TO_DELETE).order_by("id")}
    if not tombstones:
        return
    context.report_progress("pushing", _DELETING.format(count=len(tombstones)), 0, len(tombstones))
    for number, found in enumerate(context.book.fetch(list(tombstones))):
        context.report_progress("pushing", _DELETING.format(count=len(tombstones)), number, len(tombstones))
        tombstone = tombstones[found.href]
        if isinstance(found, Missing):
            context.act(partial(_finish_card_deletion, context, tombstone))
        elif isinstance(found, FetchedCard):
            _delete_card(context, tombstone, found)


def _delete_card(context: Context, tombstone: Tombstone, found: FetchedCard) -> None:
    remote = SideState.CHANGED if _is_edited_remotely(tombstone.remote_raw, found.text) else SideState.UNCHANGED
    planned = plan_card_deletion(remote, can_ask=_can_ask(context, tombstone))
    context.carry_out(lambda: [planned], partial(_delete_as_planned, context, tombstone, found, planned.action))


def _can_ask(context: Context, tombstone: Tombstone) -> bool:
    """Whether a conflict may be opened: the contact still has a mapping, and no open conflict."""
    mapping = _mapping_of(context, tombstone)
    return mapping is not None and load_open_conflict(context, mapping) is None


def _mapping_of(context: Context, tombstone: Tombstone) -> Mapping | None:
    rows = Mapping.objects.owned_by(context.owner).filter(connection=context.connection)
    return rows.filter(href_key=tombstone.href_key).first()


def _delete_as_planned(context: Context, tombstone: Tombstone, found: FetchedCard, action: Action) -> None:
    if action is Action.CONFLICT_LOCAL_DELETED:
        _open_local_deleted_conflict(context, tombstone, found)
        return
    # If-Match with the ETag just read: an edit made since then is not deleted unseen.
    written = context.book.delete(found.href, found.etag)
    if written.outcome in {Outcome.DONE, Outcome.GONE}:
        _finish_card_deletion(context, tombstone)
        context.tally.updated_remotely += written.outcome is Outcome.DONE
    elif written.outcome is Outcome.CHANGED:
        newest = context.book.get_readable(found.href)
        if isinstance(newest, FetchedCard):
            _open_local_deleted_conflict(context, tombstone, newest)
    # UNKNOWN and LOCKED leave the tombstone in TO_DELETE: the next run asks again.
    elif written.outcome not in {Outcome.UNKNOWN, Outcome.LOCKED}:
        context.tally.add_error(_NOT_DELETED.format(href=found.href, reason=written.message or ""))


def _is_edited_remotely(before: str, now: str) -> bool:
    if before == now:
        return False
    try:
        return remote_fields(read_card(before)[0]) != remote_fields(read_resource(now)[0])
    except VCardError:
        return True


def _finish_card_deletion(context: Context, tombstone: Tombstone) -> None:
    """Record that the card is gone, whoever deleted it."""
    with context.write():
        Mapping.objects.owned_by(context.owner).filter(
            connection=context.connection, href_key=tombstone.href_key
        ).delete()
        Tombstone.objects.owned_by(context.owner).filter(pk=tombstone.pk).update(state=TombstoneState.GONE)
        context.record_remote_write()


def _open_local_deleted_conflict(context: Context, tombstone: Tombstone, found: FetchedCard) -> None:
    with context.write():
        # KEPT: the next runs must not delete the card before the user has decided.
        tombstone.etag, tombstone.remote_raw, tombstone.state = found.etag, found.text, TombstoneState.KEPT
        tombstone.save()
        mapping = _mapping_of(context, tombstone)
        if mapping is not None:
            mapping.keep_text(found.text, found.etag, mapping.uid)
            mapping.save()
            is_new = open_conflict(context, mapping, ConflictKind.LOCAL_DELETED, found.text, found.etag)
            context.tally.conflicts += is_new
