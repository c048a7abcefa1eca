"""Cards and people that are gone: what vanished there, and what is to be deleted there."""

from collections.abc import Sequence

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
from carddav.sync.book import read_current_card
from carddav.sync.contacts import mapping_of, open_conflict, plan_merge
from carddav.sync.context import Context
from carddav.sync.fields import remote_fields
from carddav.sync.index import Index, Known
from carddav.sync.people import LocalSide, load_sides
from carddav.sync.pictures import Picture
from carddav.sync.plan import Action, BookState, Side, is_guarded, plan_contact
from carddav.sync.tombstones import put_tombstone
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.services.people import delete_people
from people.vcard import VCardError, read_card

_TO_DELETE = CompiledQuery(
    lambda owner_id, connection_id: (
        Tombstone.objects.owned_by(owner_id)
        .filter(connection=connection_id, state=TombstoneState.TO_DELETE)
        .order_by("id")
    )
)


def apply_remote_deletions(context: Context, index: Index, missing: dict[str, Known]) -> list[FetchedCard]:
    """Deal with what vanished, each confirmed by the server; returns the cards that are there after all."""
    moved = _moved(context, missing)
    missing = {key: known for key, known in missing.items() if key not in moved}
    if not missing:
        return []
    context.report_progress("listing", f"Asking for {len(missing)} contacts that are not listed", 0, len(missing))
    # Listings leave out cards that are there: gone is what is missing when it is asked for by itself.
    found = list(context.book.fetch([known.href for known in missing.values()]))
    by_href = {known.href: key for key, known in missing.items()}
    gone = [missing[by_href[answer.href]] for answer in found if isinstance(answer, Missing)]
    there = [answer for answer in found if isinstance(answer, FetchedCard)]
    mapped = [known for known in gone if known.kind == "mapping"]
    held = is_guarded(
        BookState(
            mapped=len(index.mapped),
            mapped_gone=len(mapped),
            known=len(index.cards),
            gone=len(gone),
            is_same_book=_is_same_book(context.connection, index),
        )
    )
    if held:
        context.tally.messages.append(
            f"{len(mapped)} contacts are gone from the address book. Nothing was deleted here: "
            "each is a conflict to resolve."
        )
    if not context.dry_run:
        _delete_unmapped_rows(context, [known for known in gone if known.kind != "mapping"])
    for known in mapped:
        _apply_remote_deletion(context, known, held=held)
    # No run by itself until somebody has decided: each would find the same cards gone.
    if held and not context.dry_run:
        Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk).update(pause=Pause.DELETIONS_HELD)
    return there


def _moved(context: Context, missing: dict[str, Known]) -> set[str]:
    """Those whose card was found under another href meanwhile."""
    ids = [known.row_id for known in missing.values() if known.kind == "mapping"]
    still = set(Mapping.objects.owned_by(context.owner).filter(pk__in=ids).values_list("href_key", flat=True))
    return {key for key, known in missing.items() if known.kind == "mapping" and key not in still}


def _is_same_book(connection: Connection, index: Index) -> bool:
    """Whether the mapped cards are of the book that is open; hrefs of another one are all elsewhere."""
    # A long href is kept as its hash, which tells nothing of the folder.
    folder = href_key(connection.book_url, connection.book_url)
    return all(key.startswith((folder, "sha256:")) for key, known in index.cards.items() if known.kind == "mapping")


def _delete_unmapped_rows(context: Context, gone: Sequence[Known]) -> None:
    """Rows of cards that were no contacts here."""
    ids = {kind: [known.row_id for known in gone if known.kind == kind] for kind in ("pending", "other", "tombstone")}
    PendingImport.objects.owned_by(context.owner).filter(pk__in=ids["pending"]).delete()
    OtherCard.objects.owned_by(context.owner).filter(pk__in=ids["other"]).delete()
    Tombstone.objects.owned_by(context.owner).filter(pk__in=ids["tombstone"]).update(state=TombstoneState.GONE)


def _apply_remote_deletion(context: Context, known: Known, *, held: bool) -> None:
    if context.dry_run:
        counted = Mapping.objects.owned_by(context.owner).get(pk=known.row_id)
        _count(context, _action(context, counted, _side(context, counted), held=held))
        return
    with context.write() as write:
        mapping = mapping_of(context, known.row_id)
        if mapping is None:
            return
        side = _side(context, mapping)
        match _action(context, mapping, side, held=held):
            case Action.TRASH:
                end_mapping(context, mapping, TombstoneState.GONE)
                delete_people(owner=context.owner, person_ids=[mapping.person_id], options={}, now=write.now)
                # The deletion has raised it, and undoing compares it.
                side.person.refresh_from_db(fields=["revision"])
                context.note_change(side.person, RunAction.TRASHED, {})
                context.tally.updated_locally += 1
            case Action.CONFLICT_REMOTE_DELETED if mapping.status != MappingStatus.HELD:
                open_conflict(context, mapping, ConflictKind.REMOTE_DELETED, mapping.remote_raw, mapping.etag)
                mapping.status = MappingStatus.HELD
                mapping.save()
            case Action.FORGET:
                end_mapping(context, mapping, TombstoneState.GONE)
            case _:
                pass


def _side(context: Context, mapping: Mapping) -> LocalSide:
    return load_sides(context.owner, [mapping.person_id])[mapping.person_id]


def _action(context: Context, mapping: Mapping, side: LocalSide, *, held: bool) -> Action:
    local = Side.CHANGED if _is_edited(context, mapping, side) else Side.SAME
    if side.person.deleted_at is not None or not side.person.card_dav_sync_enabled:
        local = Side.SUSPENDED
    return plan_contact(local, Side.GONE, is_guarded=held)


def _is_edited(context: Context, mapping: Mapping, side: LocalSide) -> bool:
    """Whether there is something here that the card that is gone never said."""
    try:
        remote = remote_fields(read_card(mapping.remote_raw)[0])
    except VCardError:
        return True
    merge_plan = plan_merge(mapping, side, remote, Picture(remote["photo"]), context.connection.name_format)
    return bool(merge_plan.is_unsent or merge_plan.merged.conflicts)


def _count(context: Context, action: Action) -> None:
    context.tally.updated_locally += action is Action.TRASH
    context.tally.conflicts += action in {Action.CONFLICT_REMOTE_DELETED, Action.CONFLICT_LOCAL_DELETED}
    context.tally.updated_remotely += action is Action.DELETE


def end_mapping(context: Context, mapping: Mapping, state: TombstoneState) -> None:
    """The mapping ends; what was known of the card stays as a tombstone. Inside the write."""
    Conflict.objects.owned_by(context.owner).filter(mapping=mapping, resolved_at=None).delete()
    put_tombstone(mapping, state)
    mapping.delete()


def delete_cards(context: Context) -> None:
    """Delete the cards of people who were deleted here with deleteFromCardDav, unless they were edited there."""
    rows = _TO_DELETE.instances(owner_id=context.owner.pk, connection_id=context.connection.pk)
    waiting: dict[str, Tombstone] = {row.href: row for row in rows}
    if not waiting:
        return
    context.report_progress("pushing", f"Deleting {len(waiting)} contacts", 0, len(waiting))
    for number, found in enumerate(context.book.fetch(list(waiting))):
        context.report_progress("pushing", f"Deleting {len(waiting)} contacts", number, len(waiting))
        tombstone = waiting[found.href]
        if isinstance(found, Missing):
            _deleted(context, tombstone)
        elif isinstance(found, FetchedCard):
            _delete_card(context, tombstone, found)


def _delete_card(context: Context, tombstone: Tombstone, found: FetchedCard) -> None:
    remote = Side.CHANGED if _is_edited_remotely(tombstone.remote_raw, found.text) else Side.SAME
    action = plan_contact(Side.GONE, remote)
    if context.dry_run:
        _count(context, action)
        return
    if action is Action.CONFLICT_LOCAL_DELETED:
        _open_local_deleted(context, tombstone, found)
        return
    # With the ETag that was just read: an edit in between is not deleted unseen.
    written = context.book.delete(found.href, found.etag)
    if written.outcome in {Outcome.DONE, Outcome.GONE}:
        _deleted(context, tombstone)
        context.tally.updated_remotely += written.outcome is Outcome.DONE
    elif written.outcome is Outcome.CHANGED:
        newest = read_current_card(context.book, found.href)
        if isinstance(newest, FetchedCard):
            _open_local_deleted(context, tombstone, newest)
    elif written.outcome not in {Outcome.UNKNOWN, Outcome.LOCKED}:  # that one is asked for again with the next run
        context.tally.fail(f"{found.href}: it could not be deleted on the server. {written.message}".strip())


def _is_edited_remotely(before: str, now: str) -> bool:
    if before == now:
        return False
    try:
        return remote_fields(read_card(before)[0]) != remote_fields(read_card(now)[0])
    except VCardError:
        return True


def _deleted(context: Context, tombstone: Tombstone) -> None:
    """The card is gone; who was the first to delete it does not matter."""
    if context.dry_run:
        return
    with context.write():
        Mapping.objects.owned_by(context.owner).filter(
            connection=context.connection, href_key=tombstone.href_key
        ).delete()
        Tombstone.objects.owned_by(context.owner).filter(pk=tombstone.pk).update(state=TombstoneState.GONE)
        context.note_sent()


def _open_local_deleted(context: Context, tombstone: Tombstone, found: FetchedCard) -> None:
    with context.write():
        tombstone.etag, tombstone.remote_raw, tombstone.state = found.etag, found.text, TombstoneState.KEPT
        tombstone.save()
        mapping = (
            Mapping.objects.owned_by(context.owner)
            .filter(connection=context.connection, href_key=tombstone.href_key)
            .first()
        )
        if mapping is not None:
            mapping.remote_raw, mapping.etag = found.text, found.etag
            mapping.save()
            open_conflict(context, mapping, ConflictKind.LOCAL_DELETED, found.text, found.etag)
