"""One contact that is on both sides: merged, and applied here. What goes there is left to carddav.sync.push."""

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from carddav.client import Card as FetchedCard
from carddav.models import UNSENT, Conflict, ConflictKind, Mapping, MappingStatus, Resolution, RunAction
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY, Fields, changed_fields, remote_fields
from carddav.sync.merge import FieldConflict, Merged, Sides, merge
from carddav.sync.people import LocalSide, load_sides, take_unmapped_lines, write_fields
from carddav.sync.pictures import Picture, picture_of, stored_picture_of
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.vcard import Card, read_card

_MAPPING = CompiledQuery(lambda owner_id, mapping_id: Mapping.objects.owned_by(owner_id).filter(pk=mapping_id))
_OPEN_CONFLICT = CompiledQuery(
    lambda owner_id, person_id: Conflict.objects.owned_by(owner_id).filter(person=person_id, resolved_at=None)
)


def mapping_of(context: Context, mapping_id: UUID | None) -> Mapping | None:
    """The row as it is now; None where it is gone."""
    found: Mapping | None = _MAPPING.instance(owner_id=context.owner.pk, mapping_id=mapping_id) if mapping_id else None
    return found


def open_conflict_of(context: Context, mapping: Mapping) -> Conflict | None:
    """What is to be decided about the contact."""
    found: Conflict | None = _OPEN_CONFLICT.instance(owner_id=context.owner.pk, person_id=mapping.person_id)
    return found


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge does to a contact: `target` here, in the `changed` fields; `is_unsent`: something goes there."""

    merged: Merged
    target: Fields
    changed: set[str]
    is_renamed: bool
    is_unsent: bool


def plan_merge(mapping: Mapping, side: LocalSide, remote: Fields, picture: Picture, form: str) -> MergePlan:
    """The merge of a contact as it is now; pure. `form` is the format of FN."""
    agreed = frozenset({"photo"} if picture.jpeg and picture.local == side.fields["photo"] else ())
    merged = merge(Sides(mapping.base_local, mapping.base_remote), Sides(side.fields, remote), agreed)
    target = {**merged.target.local, "photo": side.fields["photo"]}
    if _takes_photo(merged, side.fields, picture):
        target["photo"] = picture.local
    was_named = mapping.base_local.get("fn")
    is_renamed = was_named is not None and was_named != side.full_name(form)
    is_unsent = is_renamed or bool(changed_fields(remote, merged.target.remote))
    return MergePlan(merged, target, changed_fields(side.fields, target), is_renamed, is_unsent)


def merge_contact(context: Context, mapping_id: UUID, fetched: FetchedCard | None = None) -> None:
    """Merge a mapped contact with what was fetched, or with what is known of its card. Raises VCardError.

    The person is read inside the transaction, so that nothing that was edited meanwhile is overwritten.
    """
    known = mapping_of(context, mapping_id)
    if known is None:
        return
    card, _ = read_card(fetched.text if fetched else known.remote_raw)
    picture = _picture(context, card, known.base_remote)
    if context.dry_run:
        _count_merge(context, known, card, picture)
        return
    with context.write() as write:
        # The picture was fetched without the lock: a card that was replaced meanwhile is not merged from its old text.
        mapping = mapping_of(context, mapping_id)
        if mapping is None or (fetched is None and mapping.remote_raw != known.remote_raw):
            return
        if fetched is not None:
            mapping.remote_raw, mapping.etag, mapping.uid = fetched.text, fetched.etag, card.uid
        side = load_sides(context.owner, [mapping.person_id])[mapping.person_id]
        if is_sync_suspended(side):
            mapping.save()  # for later: the bases stay
            return
        if mapping.status == MappingStatus.HELD:
            close_conflict(context, mapping)  # the card is there again
        _merge(context, write, mapping, side, card, picture)


def is_sync_suspended(side: LocalSide) -> bool:
    """Whether nothing is done with the person now."""
    return side.person.deleted_at is not None or not side.person.card_dav_sync_enabled


def _count_merge(context: Context, mapping: Mapping, card: Card, picture: Picture) -> None:
    side = load_sides(context.owner, [mapping.person_id])[mapping.person_id]
    if is_sync_suspended(side):
        return
    context.counted_mappings.add(mapping.pk)
    merge_plan = plan_merge(mapping, side, remote_fields(card), picture, context.connection.name_format)
    context.tally.updated_locally += bool(merge_plan.changed)
    context.tally.updated_remotely += merge_plan.is_unsent
    context.tally.conflicts += bool(merge_plan.merged.conflicts)


def _picture(context: Context, card: Card, base_remote: Fields) -> Picture:
    token = remote_fields(card)["photo"]
    if token == base_remote.get("photo"):
        return Picture(token)
    if context.dry_run:
        return picture_of(card, context.pixels)
    return stored_picture_of(card, context.pixels, context.owner.pk)


def _merge(
    context: Context, write: AccountWrite, mapping: Mapping, side: LocalSide, card: Card, picture: Picture
) -> None:
    take_unmapped_lines(context.owner, write, side, card)
    form, remote = context.connection.name_format, remote_fields(card)
    merge_plan = plan_merge(mapping, side, remote, picture, form)
    before = side
    if merge_plan.changed:
        image = {field: side.fields[field] for field in merge_plan.changed}
        former_photo = side.person.photo if "photo" in merge_plan.changed else None
        side = write_fields(context.owner, write, side, merge_plan.target, merge_plan.changed, picture.jpeg)
        context.note_change(side.person, RunAction.UPDATED, image, former_photo)
        context.tally.updated_locally += 1
    bases, was_named = Sides(mapping.base_local, mapping.base_remote), mapping.base_local.get("fn")
    mapping.base_local, mapping.base_remote = _agreed_bases(bases, remote, merge_plan.merged, before, side)
    mapping.base_local["fn"] = was_named if merge_plan.is_renamed else side.full_name(form)
    set_conflict(context, mapping, merge_plan.merged.conflicts)
    if mapping.status != MappingStatus.QUARANTINED or not merge_plan.is_unsent:
        state = MappingStatus.CONFLICT if merge_plan.merged.conflicts else MappingStatus.CLEAN
        mapping.status, mapping.error, mapping.body_hash = state, "", ""
    # UNSENT is below every revision, so that the push finds the contact.
    mapping.local_rev = UNSENT if merge_plan.is_unsent else write.revision
    mapping.save()


def _takes_photo(merged: Merged, local: Fields, picture: Picture) -> bool:
    """Whether the card's picture, or its absence, comes here. One that could not be had leaves ours."""
    target = merged.target.local["photo"]
    if target == local["photo"] or any(conflict.field == "photo" for conflict in merged.conflicts):
        return False
    return target is None or picture.jpeg is not None


def _agreed_bases(
    bases: Sides, remote: Fields, merged: Merged, before: LocalSide, after: LocalSide
) -> tuple[Fields, Fields]:
    """The bases once the changes from there are here: those of ours that are to be sent still differ from them."""
    came = merge(bases, Sides({field: bases.local.get(field, before.fields[field]) for field in EMPTY}, remote))
    held = {conflict.field for conflict in merged.conflicts}
    local, theirs = {}, {}
    for field in EMPTY:
        if field in held:
            local[field], theirs[field] = bases.local.get(field), bases.remote.get(field)
            continue
        theirs[field] = remote[field]
        local[field] = came.target.local[field]
        if merged.target.remote[field] == remote[field]:
            local[field] = after.fields[field]  # nothing to be sent: what is here is what was agreed on
    return local, theirs


def set_conflict(context: Context, mapping: Mapping, found: tuple[FieldConflict, ...]) -> None:
    """One open record a contact, with the fields that differ now; closed where none does any more."""
    record = open_conflict_of(context, mapping)
    if not found:
        # An imported conflict may say that the card is gone: it was found, so nothing is left to decide.
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
    """One side is gone: somebody has to decide. Inside the write."""
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
    """Both sides agree by now. Inside the write."""
    rows = Conflict.objects.owned_by(context.owner).filter(person=mapping.person_id, resolved_at=None)
    rows.update(resolved_at=timezone.now(), resolution=Resolution.MERGED)
    mapping.status = MappingStatus.CLEAN
