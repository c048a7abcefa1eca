"""Merges one contact that exists on both sides, and applies the result to the person. What has to be sent is left to
carddav.sync.push."""

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from carddav.client import Card as FetchedCard
from carddav.models import UNSENT, Conflict, ConflictKind, Mapping, MappingStatus, Resolution, RunAction
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY_FIELDS, Fields, changed_fields, remote_fields
from carddav.sync.merge import FieldConflict, Merged, Sides, merge
from carddav.sync.people import LocalContact, copy_unmapped_lines, load_local_contact, write_fields
from carddav.sync.pictures import Picture, load_and_store_picture, load_picture
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.vcard import Card, read_card

_MAPPING = CompiledQuery(lambda owner_id, mapping_id: Mapping.objects.owned_by(owner_id).filter(pk=mapping_id))
_OPEN_CONFLICT = CompiledQuery(
    lambda owner_id, person_id: Conflict.objects.owned_by(owner_id).filter(person=person_id, resolved_at=None)
)


def load_mapping(context: Context, mapping_id: UUID | None) -> Mapping | None:
    """The current row of the mapping, or None."""
    found: Mapping | None = _MAPPING.instance(owner_id=context.owner.pk, mapping_id=mapping_id) if mapping_id else None
    return found


def load_open_conflict(context: Context, mapping: Mapping) -> Conflict | None:
    """The unresolved conflict of the contact, or None."""
    found: Conflict | None = _OPEN_CONFLICT.instance(owner_id=context.owner.pk, person_id=mapping.person_id)
    return found


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The result of a merge: the person gets `target` in the `changed` fields. `is_unsent`: the card has to be written,
    too."""

    merged: Merged
    target: Fields
    changed: set[str]
    is_fn_changed: bool
    is_unsent: bool


def plan_merge(
    mapping: Mapping, contact: LocalContact, remote: Fields, picture: Picture, name_format: str
) -> MergePlan:
    """Merge the contact as it is now; pure. `name_format` is the connection's format of FN."""
    # The card's picture in its stored form is the person's photo: the two tokens differ only in the encoding.
    agreed = frozenset({"photo"} if picture.jpeg and picture.local_token == contact.fields["photo"] else ())
    merged = merge(Sides(mapping.base_local, mapping.base_remote), Sides(contact.fields, remote), agreed)
    target = {**merged.target.local, "photo": contact.fields["photo"]}
    if _takes_remote_photo(merged, contact.fields, picture):
        target["photo"] = picture.local_token
    was_named = mapping.base_local.get("fn")
    is_fn_changed = was_named is not None and was_named != contact.full_name(name_format)
    is_unsent = is_fn_changed or bool(changed_fields(remote, merged.target.remote))
    return MergePlan(merged, target, changed_fields(contact.fields, target), is_fn_changed, is_unsent)


def merge_contact(context: Context, mapping_id: UUID, fetched: FetchedCard | None = None) -> None:
    """Merge a mapped contact with the fetched card, or with the card as last fetched. Raises VCardError.

    The person is read inside the transaction, so that an edit made meanwhile is not overwritten.
    """
    known = load_mapping(context, mapping_id)
    if known is None:
        return
    card, _ = read_card(fetched.text if fetched else known.remote_raw)
    picture = _load_changed_picture(context, card, known.base_remote)
    if context.dry_run:
        _count_merge(context, known, card, picture)
        return
    with context.write() as write:
        # The picture was loaded without the lock: if the stored card was replaced meanwhile, its old text must not be
        # merged.
        mapping = load_mapping(context, mapping_id)
        if mapping is None or (fetched is None and mapping.remote_raw != known.remote_raw):
            return
        if fetched is not None:
            mapping.remote_raw, mapping.etag, mapping.uid = fetched.text, fetched.etag, card.uid
        contact = load_local_contact(context.owner, mapping.person_id)
        if is_sync_suspended(contact):
            mapping.save()  # keep the text; the bases stay, so that a later merge sees the change
            return
        if mapping.status == MappingStatus.HELD:
            close_conflict(context, mapping)  # the card is there again
        _apply_merge(context, write, mapping, contact, card, picture)


def is_sync_suspended(contact: LocalContact) -> bool:
    """Whether the person is deleted or excluded from the sync."""
    return contact.person.deleted_at is not None or not contact.person.card_dav_sync_enabled


def _count_merge(context: Context, mapping: Mapping, card: Card, picture: Picture) -> None:
    contact = load_local_contact(context.owner, mapping.person_id)
    if is_sync_suspended(contact):
        return
    context.counted_mappings.add(mapping.pk)
    merge_plan = plan_merge(mapping, contact, remote_fields(card), picture, context.connection.name_format)
    context.tally.updated_locally += bool(merge_plan.changed)
    context.tally.updated_remotely += merge_plan.is_unsent
    context.tally.conflicts += bool(merge_plan.merged.conflicts)


def _load_changed_picture(context: Context, card: Card, base_remote: Fields) -> Picture:
    """The card's picture; without its bytes if it has not changed, so that it is not downloaded again."""
    token = remote_fields(card)["photo"]
    if token == base_remote.get("photo"):
        return Picture(token)
    if context.dry_run:
        return load_picture(card, context.pixel_budget)
    return load_and_store_picture(card, context.pixel_budget, context.owner.pk)


def _apply_merge(
    context: Context, write: AccountWrite, mapping: Mapping, contact: LocalContact, card: Card, picture: Picture
) -> None:
    copy_unmapped_lines(context.owner, write, contact, card)
    name_format, remote = context.connection.name_format, remote_fields(card)
    merge_plan = plan_merge(mapping, contact, remote, picture, name_format)
    before = contact
    if merge_plan.changed:
        image = {field: contact.fields[field] for field in merge_plan.changed}
        former_photo = contact.person.photo if "photo" in merge_plan.changed else None
        contact = write_fields(context.owner, write, contact, merge_plan.target, merge_plan.changed, picture.jpeg)
        context.record_change(contact.person, RunAction.UPDATED, image, former_photo)
        context.tally.updated_locally += 1
    bases, was_named = Sides(mapping.base_local, mapping.base_remote), mapping.base_local.get("fn")
    mapping.base_local, mapping.base_remote = _agreed_bases(bases, remote, merge_plan.merged, before, contact)
    mapping.base_local["fn"] = was_named if merge_plan.is_fn_changed else contact.full_name(name_format)
    update_field_conflict(context, mapping, merge_plan.merged.conflicts)
    if mapping.status != MappingStatus.QUARANTINED or not merge_plan.is_unsent:
        state = MappingStatus.CONFLICT if merge_plan.merged.conflicts else MappingStatus.CLEAN
        mapping.status, mapping.error, mapping.body_hash = state, "", ""
    # UNSENT is lower than every revision, so that the push selects the contact.
    # The account's revision, not the person's: dates and groups have revisions of their own.
    mapping.local_rev = UNSENT if merge_plan.is_unsent else write.revision
    mapping.save()


def _takes_remote_photo(merged: Merged, local: Fields, picture: Picture) -> bool:
    """Whether the person takes the card's picture or its absence. A picture that could not be loaded leaves the
    photo."""
    target = merged.target.local["photo"]
    if target == local["photo"] or any(conflict.field == "photo" for conflict in merged.conflicts):
        return False
    return target is None or picture.jpeg is not None


def _agreed_bases(
    bases: Sides, remote: Fields, merged: Merged, before: LocalContact, after: LocalContact
) -> tuple[Fields, Fields]:
    """The bases after the remote changes are applied. Local changes that are still to be sent keep differing from
    them."""
    # The merge without the local changes: what the remote side alone contributes.
    remote_only = merge(
        bases, Sides({field: bases.local.get(field, before.fields[field]) for field in EMPTY_FIELDS}, remote)
    )
    conflicting = {conflict.field for conflict in merged.conflicts}
    new_local, new_remote = {}, {}
    for field in EMPTY_FIELDS:
        if field in conflicting:
            new_local[field], new_remote[field] = bases.local.get(field), bases.remote.get(field)
            continue
        new_remote[field] = remote[field]
        new_local[field] = remote_only.target.local[field]
        if merged.target.remote[field] == remote[field]:
            # Nothing is to be sent, so the person as it is now is what both sides agree on.
            new_local[field] = after.fields[field]
    return new_local, new_remote


def update_field_conflict(context: Context, mapping: Mapping, found: tuple[FieldConflict, ...]) -> None:
    """Store the fields that are in conflict in the contact's one open record; close it if none is."""
    record = load_open_conflict(context, mapping)
    if not found:
        # An imported conflict may be of a deleted card: the card was found, so nothing is left to decide.
        if record is not None and (record.kind == ConflictKind.FIELDS or record.mapping_id is None):
            close_conflict(context, mapping)
        return
    fields = [
        {"field": conflict.field, "base": conflict.base, "local": conflict.local, "remote": conflict.remote}
        for conflict in found
    ]
    if record is None:
        record = Conflict(owner=context.owner, connection=context.connection, person_id=mapping.person_id)
        context.tally.conflicts += 1
    values: MappingOf[str, Any] = {
        "mapping": mapping,
        "kind": ConflictKind.FIELDS,
        "fields": fields,
        "remote_raw": mapping.remote_raw,
        "remote_etag": mapping.etag,
    }
    for column, value in values.items():
        setattr(record, column, value)
    record.save()


def open_conflict(context: Context, mapping: Mapping, kind: ConflictKind, raw: str, etag: str | None) -> None:
    """Record that one side is gone and the user has to decide. Must be called inside the write."""
    rows = Conflict.objects.owned_by(context.owner)
    values = {"connection": context.connection, "mapping": mapping, "kind": kind, "fields": []}
    _, is_new = rows.update_or_create(
        person=mapping.person,
        resolved_at=None,
        defaults={**values, "remote_raw": raw, "remote_etag": etag},
        create_defaults={"owner": context.owner, **values, "remote_raw": raw, "remote_etag": etag},
    )
    if is_new:
        context.tally.conflicts += 1


def close_conflict(context: Context, mapping: Mapping) -> None:
    """Resolve the open conflict because both sides agree. Must be called inside the write."""
    rows = Conflict.objects.owned_by(context.owner).filter(person=mapping.person_id, resolved_at=None)
    rows.update(resolved_at=timezone.now(), resolution=Resolution.MERGED)
    mapping.status = MappingStatus.CLEAN
