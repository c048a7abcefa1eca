"""Resolves conflicts without a mapping, such as imported ones, from what their record contains."""

from collections.abc import Mapping as MappingOf
from typing import Any

from carddav.models import Conflict, ConflictKind, Resolution
from carddav.services.merged_values import merge_values
from carddav.sync.context import Context
from carddav.sync.fields import changed_fields, remote_fields
from carddav.sync.people import load_local_contact, write_fields
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.photos.files import PictureRefusedError, upload_photo
from people.photos.images import to_stored_form
from people.services.people import delete_people, restore_person
from people.vcard import Card, VCardError, read_card

_NO_CARD_MESSAGE = "The server's card was not kept with this conflict: only keep_local can be chosen."
_REMOTE_PICTURE_MESSAGE = (
    "The server's picture is an address on the net, and no server is asked here: choose another way."
)


def load_stored_card(conflict: Conflict) -> Card:
    """The card in the record. Raises FieldError if there is none."""
    try:
        return read_card(conflict.remote_raw)[0]
    except VCardError as error:
        raise FieldError("resolution", _NO_CARD_MESSAGE) from error


def load_stored_picture(context: Context, conflict: Conflict, resolution: str) -> bytes | None:
    """The record's picture if the decision takes it, stored for the write. Must not be called inside a transaction.

    Raises FieldError if the picture would have to be downloaded.
    """
    names = {entry["field"] for entry in conflict.fields}
    if conflict.kind != ConflictKind.FIELDS or resolution != Resolution.KEEP_REMOTE or "photo" not in names:
        return None
    card = load_stored_card(conflict)
    if not card.photo:
        if card.photo_url:
            raise FieldError("resolution", _REMOTE_PICTURE_MESSAGE)
        return None
    try:
        jpeg = to_stored_form(card.photo, context.pixel_budget)
    except PictureRefusedError as error:
        raise FieldError("resolution", str(error)) from error
    upload_photo(owner_id=context.owner.pk, jpeg=jpeg)
    return jpeg


def resolve_without_card(
    context: Context,
    write: AccountWrite,
    conflict: Conflict,
    resolution: str,
    values: MappingOf[str, Any],
    picture: bytes | None,
) -> None:
    """Apply the decision here; no request is sent. `keep_local` changes nothing. Raises FieldError."""
    person = conflict.person
    if conflict.kind == ConflictKind.FIELDS:
        _resolve_fields(context, write, conflict, resolution, values, picture)
    elif conflict.kind == ConflictKind.REMOTE_DELETED and resolution == Resolution.KEEP_REMOTE:
        delete_people(owner=context.owner, person_ids=[person.pk], options={}, now=write.now)
    elif conflict.kind == ConflictKind.LOCAL_DELETED and resolution != Resolution.KEEP_LOCAL and person.deleted_at:
        restore_person(owner=context.owner, person=person, now=write.now)


def _resolve_fields(
    context: Context,
    write: AccountWrite,
    conflict: Conflict,
    resolution: str,
    values: MappingOf[str, Any],
    picture: bytes | None,
) -> None:
    if resolution == Resolution.KEEP_LOCAL:
        return
    names = {entry["field"] for entry in conflict.fields}
    remote = remote_fields(load_stored_card(conflict))
    if resolution == Resolution.MERGED:
        merge_values(context, conflict.person_id, names, remote, values, write.now)
        return
    contact = load_local_contact(context.owner, conflict.person_id)
    target = {**contact.fields, **{name: remote[name] for name in names}}
    if changed := changed_fields(contact.fields, target):
        write_fields(context.owner, write, contact, target, changed, picture)
