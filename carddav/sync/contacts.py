"""One contact that exists on both sides: what is done with it, decided from its state on both without reading anything,
and applied to the person. What has to be sent is left to carddav.sync.push."""

import datetime as dt
from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from carddav.models import UNSENT, Conflict, ConflictKind, Mapping, MappingStatus, RunAction
from carddav.models.mapping import hash_text
from carddav.sync.context import CARD_PROBLEM, SyncContext
from carddav.sync.pictures import CardPicture, load_changed_picture
from carddav.sync.plan import Counts, SyncAction, SyncPlan
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.webdav.shapes import Resource
from people.contents.contact import LocalContact, copy_unmapped_lines, load_local_contact, write_fields
from people.contents.fields import EMPTY_FIELDS, SCALARS, Fields, changed_fields, remote_fields, replace_fields
from people.contents.merge import FieldConflict, Merged, Sides, merge
from people.photos.files import read_photo
from people.vcard import Card, CardText, VCardError, patch_text, read_card, read_resource
from people.vcard.full_name import names_of, says_only_name
from people.vocabularies import Resolution


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The result of a merge with a card that has the fields `remote`: the person gets `target` in the `changed` fields.
    `is_unsent`: the card has to be written, too."""

    remote: Fields
    merged: Merged
    target: Fields
    changed: set[str]
    is_fn_changed: bool
    is_unsent: bool


def plan_merge(
    mapping: Mapping, contact: LocalContact, remote: Fields, picture: CardPicture, name_format: str
) -> MergePlan:
    """Merge the contact as it is now; pure. `name_format` is the connection's format of FN."""
    remote = _with_former_override(mapping, remote)
    # The card's picture in its stored form is the person's photo: the two tokens differ only in the encoding.
    agreed = frozenset({"photo"} if picture.jpeg and picture.local_token == contact.fields["photo"] else ())
    merged = merge(Sides(mapping.base_local, mapping.base_remote), Sides(contact.fields, remote), agreed)
    target = {**merged.target.local, "photo": contact.fields["photo"]}
    if _takes_remote_photo(merged, contact.fields, picture):
        target["photo"] = picture.local_token
    was_named = mapping.base_local.get("fn")
    is_fn_changed = was_named is not None and was_named != contact.full_name(name_format)
    is_unsent = is_fn_changed or bool(changed_fields(remote, merged.target.remote))
    return MergePlan(remote, merged, target, changed_fields(contact.fields, target), is_fn_changed, is_unsent)


def _with_former_override(mapping: Mapping, remote: Fields) -> Fields:
    """An FN that says nothing but the name was once read as displayNameOverride. That it no longer is, is no edit."""
    former = mapping.base_remote.get("displayNameOverride")
    if not former or remote["displayNameOverride"]:
        return remote
    names = names_of({field.card: remote[name] for name, field in SCALARS.items()})
    return {**remote, "displayNameOverride": former} if says_only_name(former, names) else remote


def _takes_remote_photo(merged: Merged, local: Fields, picture: CardPicture) -> bool:
    """Whether the person takes the card's picture or its absence. A picture that could not be loaded leaves the
    photo."""
    target = merged.target.local["photo"]
    if target == local["photo"] or any(conflict.field == "photo" for conflict in merged.conflicts):
        return False
    return target is None or picture.jpeg is not None


def patched_text(
    before: CardText,
    merge_plan: MergePlan,
    full_name: str,
    photo: bytes | None,
    *,
    with_photo: bool = True,
    revised: str | None = None,
) -> str | None:
    """The text of the card with what is to be sent; None if that changes nothing. `photo`: the bytes of a new photo."""
    target = merge_plan.merged.target.remote
    changed = changed_fields(merge_plan.remote, target) - (set() if with_photo else {"photo"})
    if not changed and not merge_plan.is_fn_changed:
        return None
    card = replace_fields(before.card, target, changed, photo)
    patched = patch_text(before, card, full_name=full_name if merge_plan.is_fn_changed else None, revised=revised)
    return None if patched.text == before.text else patched.text


@dataclass(frozen=True, slots=True)
class ContactState:
    """One contact as both sides have it: all that decides what is done with it. `record` is its open conflict;
    `read_photo` reads the person's photo, which only a card that is sent needs."""

    mapping: Mapping
    contact: LocalContact
    card: Card
    picture: CardPicture
    record: Conflict | None
    read_photo: Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class ContactSyncPlan(SyncPlan):
    """The merge of a contact; without `merge` the person is not synced, and only the card's text is kept."""

    merge: MergePlan | None = None


def is_sync_suspended(contact: LocalContact) -> bool:
    """Whether the person is deleted or excluded from the sync."""
    return contact.person.deleted_at is not None or not contact.person.card_dav_sync_enabled


def plan_state(state: ContactState, name_format: str, now: dt.datetime) -> ContactSyncPlan:
    """What is done with a contact whose card is there; pure."""
    mapping, contact = state.mapping, state.contact
    if is_sync_suspended(contact):
        return ContactSyncPlan(SyncAction.STORE_CARD, mapping_id=mapping.pk)
    remote = remote_fields(state.card)
    merge_plan = plan_merge(mapping, contact, remote, state.picture, name_format)
    # The conflict of a card that was gone ends when the card is there again.
    is_known = state.record is not None and mapping.status != MappingStatus.HELD
    here = Counts(
        updated_locally=bool(merge_plan.changed), conflicts=bool(merge_plan.merged.conflicts) and not is_known
    )

    def there() -> Counts:
        text = patched_text(
            CardText(mapping.remote_raw), merge_plan, contact.full_name(name_format), state.read_photo()
        )
        is_sent = text is not None and not mapping.is_held_back(hash_text(text), now)
        return Counts(updated_remotely=is_sent)

    return ContactSyncPlan(SyncAction.MERGE, here=here, there=there, mapping_id=mapping.pk, merge=merge_plan)


def load_mapping(context: SyncContext, mapping_id: UUID | None) -> Mapping | None:
    """The current row of the mapping, or None."""
    return Mapping.objects.owned_by(context.owner).filter(pk=mapping_id).first() if mapping_id else None


def load_open_conflict(context: SyncContext, mapping: Mapping) -> Conflict | None:
    """The unresolved conflict of the contact, or None."""
    return Conflict.objects.owned_by(context.owner).filter(person=mapping.person_id, resolved_at=None).first()


def merge_contact(context: SyncContext, mapping_id: UUID, newest: tuple[Resource, Card] | None = None) -> None:
    """Merge a mapped contact with a card that was fetched and read, or with its card as last fetched.

    Raises VCardError if that cannot be read. The person is read inside the transaction, so that an edit made meanwhile
    is not overwritten.
    """
    unlocked = load_mapping(context, mapping_id)
    if unlocked is None:
        return
    remote_card, card = newest or (None, read_card(unlocked.remote_raw)[0])
    picture = load_changed_picture(context, card, unlocked.base_remote)

    def read() -> ContactState | None:
        # The picture was loaded without the lock: if the stored card was replaced meanwhile, its old text must not be
        # merged.
        mapping = load_mapping(context, mapping_id)
        if mapping is None or (remote_card is None and mapping.remote_raw != unlocked.remote_raw):
            return None
        if remote_card is not None:
            mapping.keep_text(remote_card.text, remote_card.etag, card.uid)
        return read_state(context, mapping, card, picture)

    context.decide(read, partial(plan_contact_now, context), partial(apply_state, context))


def plan_contact_now(context: SyncContext, state: ContactState) -> ContactSyncPlan:
    return plan_state(state, context.connection.name_format, timezone.now())


def read_state(context: SyncContext, mapping: Mapping, card: Card, picture: CardPicture) -> ContactState:
    """The contact's state now. Inside the write, unless for a dry run."""
    contact = load_local_contact(context.owner, mapping.person_id)
    photo = contact.person.photo
    return ContactState(
        mapping,
        contact,
        card,
        picture,
        load_open_conflict(context, mapping),
        lambda: read_photo(photo) if photo else None,
    )


def apply_state(context: SyncContext, write: AccountWrite, state: ContactState, sync_plan: SyncPlan) -> None:
    """Do what `plan_state` decided. Must be called inside the write."""
    if not isinstance(sync_plan, ContactSyncPlan) or sync_plan.merge is None:
        state.mapping.save()  # keep the text; the bases stay, so that a later merge sees the change
        return
    record = state.record
    if state.mapping.status == MappingStatus.HELD:
        close_conflict(context, state.mapping)  # the card is there again
        record = None
    _apply_merge(context, write, state, sync_plan.merge, record)


def merge_or_report(context: SyncContext, mapping_id: UUID, remote_card: Resource) -> bool:
    """Merge the fetched card; False, and an error of the run that names it, if it cannot be read."""
    try:
        merge_contact(context, mapping_id, (remote_card, read_resource(remote_card.text)[0]))
    except VCardError as error:
        context.tally.add_error(CARD_PROBLEM.format(href=remote_card.href, reason=error.text))
        return False
    return True


def _apply_merge(
    context: SyncContext, write: AccountWrite, state: ContactState, merge_plan: MergePlan, record: Conflict | None
) -> None:
    mapping, before = state.mapping, state.contact
    copy_unmapped_lines(context.owner, write, before, state.card)
    contact = before
    if merge_plan.changed:
        image = {field: before.fields[field] for field in merge_plan.changed}
        former_photo = before.person.photo if "photo" in merge_plan.changed else None
        contact = write_fields(context.owner, write, before, merge_plan.target, merge_plan.changed, state.picture.jpeg)
        context.record_change(contact.person, RunAction.UPDATED, image, former_photo)
    bases, was_named = Sides(mapping.base_local, mapping.base_remote), mapping.base_local.get("fn")
    base_local, base_remote = _agreed_bases(bases, merge_plan, before, contact)
    base_local["fn"] = was_named if merge_plan.is_fn_changed else contact.full_name(context.connection.name_format)
    # UNSENT is lower than every revision, so that the push selects the contact.
    # The account's revision, not the person's: dates and groups have revisions of their own.
    local_rev = UNSENT if merge_plan.is_unsent else write.revision
    # Before the conflict, which refers to it: the mapping may be new.
    mapping.agree((base_local, base_remote), local_rev, is_conflict=bool(merge_plan.merged.conflicts))
    _update_field_conflict(context, mapping, merge_plan.merged.conflicts, record)


def _agreed_bases(
    bases: Sides, merge_plan: MergePlan, before: LocalContact, after: LocalContact
) -> tuple[Fields, Fields]:
    """The bases after the remote changes are applied. Local changes that are still to be sent keep differing from
    them."""
    remote, merged = merge_plan.remote, merge_plan.merged
    # The merge without the local changes: what the remote side alone contributes.
    remote_only = merged
    if merge_plan.is_unsent:
        former = {field: bases.local.get(field, before.fields[field]) for field in EMPTY_FIELDS}
        remote_only = merge(bases, Sides(former, remote))
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


def _update_field_conflict(
    context: SyncContext, mapping: Mapping, conflicts: tuple[FieldConflict, ...], record: Conflict | None
) -> None:
    """Store the fields that are in conflict in the contact's one open record; close it if none is."""
    if not conflicts:
        # An imported conflict may be of a deleted card: the card was found, so nothing is left to decide.
        if record is not None and (record.kind == ConflictKind.FIELDS or record.mapping_id is None):
            close_conflict(context, mapping)
        return
    fields = [
        {"field": conflict.field, "base": conflict.base, "local": conflict.local, "remote": conflict.remote}
        for conflict in conflicts
    ]
    if record is None:
        record = Conflict(owner=context.owner, connection=context.connection, person_id=mapping.person_id)
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


def open_conflict(context: SyncContext, mapping: Mapping, kind: ConflictKind, raw: str, etag: str | None) -> bool:
    """Record that one side is gone and the user has to decide; returns whether that is news. Must be called inside the
    write."""
    rows = Conflict.objects.owned_by(context.owner)
    values = {"connection": context.connection, "mapping": mapping, "kind": kind, "fields": []}
    _, is_new = rows.update_or_create(
        person=mapping.person,
        resolved_at=None,
        defaults={**values, "remote_raw": raw, "remote_etag": etag},
        create_defaults={"owner": context.owner, **values, "remote_raw": raw, "remote_etag": etag},
    )
    return is_new


def close_conflict(context: SyncContext, mapping: Mapping) -> None:
    """Resolve the open conflict because both sides agree. Must be called inside the write."""
    rows = Conflict.objects.owned_by(context.owner).filter(person=mapping.person_id, resolved_at=None)
    rows.update(resolved_at=timezone.now(), resolution=Resolution.MERGED)
    mapping.release()
