"""Resolves conflicts as the user decides; those without a mapping, such as imported ones, from their record."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from carddav.models import (
    Conflict,
    ConflictKind,
    Connection,
    Mapping,
    MappingStatus,
    Pause,
    Tombstone,
    TombstoneState,
)
from carddav.services.connections import locked_connection
from carddav.sync.contacts import merge_contact
from carddav.sync.context import SyncContext
from carddav.sync.deletions import end_mapping
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from people.contents.conflicts import AlreadyResolvedError, Chosen, merge_values
from people.contents.contact import load_local_contact, write_fields
from people.contents.fields import changed_fields, remote_fields
from people.contents.merge import Sides, resolve_bases
from people.photos.containers import PictureRefusedError
from people.photos.files import upload_photo
from people.photos.images import to_stored_form
from people.services.people import delete_people, restore_person
from people.vcard import Card, VCardError, read_card
from people.vocabularies import Resolution


def resolve_conflict(*, owner: User, conflict_id: UUID, resolution: str, chosen: Chosen, now: dt.datetime) -> None:
    """Keep one side's values, or merge both. Changes for the server are sent by the next run.

    `chosen` goes with `merged`. A list of which nothing is chosen becomes the union of both sides, a scalar keeps the
    local value. A conflict without a mapping (imported, before the first sync) is resolved from its record. Raises
    MissingError, AlreadyResolvedError, FieldError, ConnectionBusyError.
    """
    rows = Conflict.objects.owned_by(owner).filter(pk=conflict_id)
    if (conflict := rows.first()) is None:
        raise MissingError
    if conflict.resolved_at is not None:
        raise AlreadyResolvedError
    with locked_connection(owner) as context:
        # Loaded before the transaction, in which no image may be decoded.
        conflict = rows.get()
        picture = (
            None
            if conflict.mapping_id
            else _load_stored_picture(context, conflict, _fields_from_there(conflict, resolution, chosen))
        )
        with context.write() as write:
            conflict = rows.get()
            if conflict.resolved_at is not None:
                raise AlreadyResolvedError
            mapping = conflict.mapping
            conflict.resolution, conflict.resolved_at, conflict.values = resolution, now, None
            conflict.save()
            if mapping is None:
                _resolve_without_card(context, write, conflict, resolution, chosen, picture)
            else:
                _RESOLVERS[ConflictKind(conflict.kind)](context, conflict, mapping, resolution, chosen, now)
            _clear_deletion_pause(context)
        # In a write of its own: it may have to load a picture first.
        if mapping is not None and conflict.kind == ConflictKind.FIELDS:
            merge_contact(context, mapping.pk)


def _fields_from_there(conflict: Conflict, resolution: str, chosen: Chosen) -> set[str]:
    """The fields of which the server's values count."""
    names = {entry["field"] for entry in conflict.fields}
    return names if resolution == Resolution.KEEP_REMOTE else set(chosen.remote)


def _resolve_fields(
    context: SyncContext,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    chosen: Chosen,
    now: dt.datetime,
) -> None:
    names = {entry["field"] for entry in conflict.fields}
    contact = load_local_contact(context.owner, mapping.person_id)
    remote = remote_fields(read_card(mapping.remote_raw)[0])
    if resolution == Resolution.MERGED:
        with context.write() as write:
            contact = merge_values(context.owner, write, mapping.person_id, names, remote, chosen, now)
    theirs = _fields_from_there(conflict, resolution, chosen)
    sides = Sides(contact.fields, remote)
    bases = resolve_bases(Sides(mapping.base_local, mapping.base_remote), sides, names - theirs, keep_local=True)
    bases = resolve_bases(bases, sides, theirs, keep_local=False)
    mapping.decide((bases.local, bases.remote))


def _resolve_remote_deleted(
    context: SyncContext,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    chosen: Chosen,
    now: dt.datetime,
) -> None:
    if resolution == Resolution.KEEP_REMOTE:
        # Before the deletion, which would leave the tombstone of a card that still exists (carddav.extension).
        end_mapping(context, mapping, TombstoneState.GONE)
        delete_people(owner=context.owner, person_ids=[mapping.person_id], options={}, now=now)
    else:
        mapping.requeue()


def _resolve_local_deleted(
    context: SyncContext,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    chosen: Chosen,
    now: dt.datetime,
) -> None:
    if resolution == Resolution.KEEP_LOCAL:
        tombstones = Tombstone.objects.owned_by(context.owner).filter(person=mapping.person_id)
        tombstones.update(state=TombstoneState.TO_DELETE)
        return
    if mapping.person.deleted_at is not None:
        restore_person(owner=context.owner, person=mapping.person, now=now)
    Mapping.objects.owned_by(context.owner).filter(pk=mapping.pk).mark_unsent()


_RESOLVERS = {
    ConflictKind.FIELDS: _resolve_fields,
    ConflictKind.REMOTE_DELETED: _resolve_remote_deleted,
    ConflictKind.LOCAL_DELETED: _resolve_local_deleted,
}


def _clear_deletion_pause(context: SyncContext) -> None:
    """End the pause of the deletion guard with the last decision."""
    held = Mapping.objects.owned_by(context.owner).filter(connection=context.connection, status=MappingStatus.HELD)
    if not held.exists():
        rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk, pause=Pause.DELETIONS_HELD)
        rows.update(pause=Pause.NONE)


_NO_CARD_MESSAGE = define_text(
    "conflict_without_card", "The server's card was not kept with this conflict: only keep_local can be chosen."
)
_REMOTE_PICTURE_MESSAGE = define_text(
    "conflict_remote_picture",
    "The server's picture is an address on the net, and no server is asked here: choose another way.",
)


def _load_stored_card(conflict: Conflict) -> Card:
    """The card in the record. Raises FieldError if there is none."""
    try:
        return read_card(conflict.remote_raw)[0]
    except VCardError as error:
        raise FieldError("resolution", _NO_CARD_MESSAGE) from error


def _load_stored_picture(context: SyncContext, conflict: Conflict, theirs: Collection[str]) -> bytes | None:
    """The record's picture if it is among the fields that are taken, stored for the write. Must not be called inside a
    transaction.

    Raises FieldError if the picture would have to be downloaded.
    """
    if conflict.kind != ConflictKind.FIELDS or "photo" not in theirs:
        return None
    card = _load_stored_card(conflict)
    if not card.photo:
        if card.photo_url:
            raise FieldError("resolution", _REMOTE_PICTURE_MESSAGE)
        return None
    try:
        jpeg = to_stored_form(card.photo, context.pixel_budget)
    except PictureRefusedError as error:
        raise FieldError("resolution", error.text) from error
    upload_photo(owner_id=context.owner.pk, jpeg=jpeg)
    return jpeg


def _resolve_without_card(
    context: SyncContext,
    write: AccountWrite,
    conflict: Conflict,
    resolution: str,
    chosen: Chosen,
    picture: bytes | None,
) -> None:
    """Apply the decision here; no request is sent. `keep_local` changes nothing. Raises FieldError."""
    person = conflict.person
    if conflict.kind == ConflictKind.FIELDS:
        _resolve_recorded_fields(context, write, conflict, resolution, chosen, picture)
    elif conflict.kind == ConflictKind.REMOTE_DELETED and resolution == Resolution.KEEP_REMOTE:
        delete_people(owner=context.owner, person_ids=[person.pk], options={}, now=write.now)
    elif conflict.kind == ConflictKind.LOCAL_DELETED and resolution != Resolution.KEEP_LOCAL and person.deleted_at:
        restore_person(owner=context.owner, person=person, now=write.now)


def _resolve_recorded_fields(
    context: SyncContext,
    write: AccountWrite,
    conflict: Conflict,
    resolution: str,
    chosen: Chosen,
    picture: bytes | None,
) -> None:
    if resolution == Resolution.KEEP_LOCAL:
        return
    names = {entry["field"] for entry in conflict.fields}
    remote = remote_fields(_load_stored_card(conflict))
    if resolution == Resolution.MERGED:
        merge_values(context.owner, write, conflict.person_id, names, remote, chosen, write.now)
    contact = load_local_contact(context.owner, conflict.person_id)
    theirs = _fields_from_there(conflict, resolution, chosen)
    target = {**contact.fields, **{name: remote[name] for name in theirs}}
    if changed := changed_fields(contact.fields, target):
        write_fields(context.owner, write, contact, target, changed, picture)
