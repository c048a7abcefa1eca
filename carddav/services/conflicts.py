"""Resolves conflicts as the user decides."""

import datetime as dt
from collections.abc import Mapping as MappingOf
from typing import Any
from uuid import UUID

from accounts.models import User
from carddav.models import (
    UNSENT,
    Conflict,
    ConflictKind,
    Connection,
    Mapping,
    MappingStatus,
    Pause,
    Resolution,
    Tombstone,
    TombstoneState,
)
from carddav.services.conflicts_without_card import load_stored_picture, resolve_without_card
from carddav.services.connection_lock import locked_connection
from carddav.services.merged_values import merge_values
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.deletions import end_mapping
from carddav.sync.fields import remote_fields
from carddav.sync.merge import Sides, resolve_bases
from carddav.sync.people import load_local_contact
from carddav.sync.tombstones import requeue_as_new
from contacts_project.kernel.errors import DomainError, FieldError, MissingError
from people.services.people import delete_people, restore_person
from people.vcard import read_card


class AlreadyResolvedError(DomainError):
    """The conflict is resolved already."""

    message = "This conflict has been resolved already."


def resolve_conflict(
    *, owner: User, conflict_id: UUID, resolution: str, values: MappingOf[str, Any] | None, now: dt.datetime
) -> None:
    """Keep one side's values, or merge both. Changes for the server are sent by the next run.

    `values`: for `merged`, the values of the named fields, by column in PersonWriter's form. A list that is not named
    becomes the union of both sides, a scalar keeps the local value. A conflict without a mapping (imported, before the
    first sync) is resolved from its record. Raises MissingError, AlreadyResolvedError, FieldError, ConnectionBusyError.
    """
    rows = Conflict.objects.owned_by(owner).filter(pk=conflict_id)
    if (known := rows.first()) is None:
        raise MissingError
    if known.resolved_at is not None:
        raise AlreadyResolvedError
    with locked_connection(owner) as context:
        # Loaded before the transaction, in which no image may be decoded.
        known = rows.get()
        picture = None if known.mapping_id else load_stored_picture(context, known, resolution)
        with context.write() as write:
            conflict = rows.get()
            if conflict.resolved_at is not None:
                raise AlreadyResolvedError
            mapping = conflict.mapping
            conflict.resolution, conflict.resolved_at, conflict.values = resolution, now, None
            conflict.save()
            if mapping is None:
                resolve_without_card(context, write, conflict, resolution, values or {}, picture)
            else:
                _RESOLVERS[ConflictKind(conflict.kind)](context, conflict, mapping, resolution, values or {}, now)
            _clear_deletion_pause(context)
        # In a write of its own: it may have to load a picture first.
        if mapping is not None and conflict.kind == ConflictKind.FIELDS:
            merge_contact(context, mapping.pk)


def _resolve_fields(
    context: Context,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    values: MappingOf[str, Any],
    now: dt.datetime,
) -> None:
    names = {entry["field"] for entry in conflict.fields}
    contact = load_local_contact(context.owner, mapping.person_id)
    remote = remote_fields(read_card(mapping.remote_raw)[0])
    if resolution == Resolution.MERGED:
        contact = merge_values(context, mapping.person_id, names, remote, values, now)
    keep_local = resolution != Resolution.KEEP_REMOTE
    bases = resolve_bases(
        Sides(mapping.base_local, mapping.base_remote), Sides(contact.fields, remote), names, keep_local=keep_local
    )
    mapping.base_local, mapping.base_remote = bases.local, bases.remote
    mapping.status, mapping.local_rev = MappingStatus.CLEAN, UNSENT
    mapping.save()


def _resolve_remote_deleted(
    context: Context,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    values: MappingOf[str, Any],
    now: dt.datetime,
) -> None:
    if resolution == Resolution.KEEP_REMOTE:
        # Before the deletion, which would leave the tombstone of a card that still exists (carddav.extension).
        end_mapping(context, mapping, TombstoneState.GONE)
        delete_people(owner=context.owner, person_ids=[mapping.person_id], options={}, now=now)
    else:
        requeue_as_new(mapping)


def _resolve_local_deleted(
    context: Context,
    conflict: Conflict,
    mapping: Mapping,
    resolution: str,
    values: MappingOf[str, Any],
    now: dt.datetime,
) -> None:
    if resolution == Resolution.KEEP_LOCAL:
        tombstones = Tombstone.objects.owned_by(context.owner).filter(person=mapping.person_id)
        tombstones.update(state=TombstoneState.TO_DELETE)
        return
    if mapping.person.deleted_at is not None:
        restore_person(owner=context.owner, person=mapping.person, now=now)
    Mapping.objects.owned_by(context.owner).filter(pk=mapping.pk).update(local_rev=UNSENT)


_RESOLVERS = {
    ConflictKind.FIELDS: _resolve_fields,
    ConflictKind.REMOTE_DELETED: _resolve_remote_deleted,
    ConflictKind.LOCAL_DELETED: _resolve_local_deleted,
}


def _clear_deletion_pause(context: Context) -> None:
    """End the pause of the deletion guard with the last decision."""
    held = Mapping.objects.owned_by(context.owner).filter(connection=context.connection, status=MappingStatus.HELD)
    if not held.exists():
        rows = Connection.objects.owned_by(context.owner).filter(pk=context.connection.pk, pause=Pause.DELETIONS_HELD)
        rows.update(pause=Pause.NONE)


def check_values(conflict: Conflict, names: set[str]) -> None:
    """Raise FieldError if values are given for fields that are not in conflict."""
    known = {entry["field"] for entry in conflict.fields}
    for name in sorted(names - known):
        raise FieldError(f"values.{name}", "This field is not in conflict.")
