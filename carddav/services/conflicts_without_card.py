"""Decisions about conflicts whose card is not known here, such as imported ones: the record says it all."""

from collections.abc import Mapping as MappingOf
from typing import Any

from carddav.models import Conflict, ConflictKind, Resolution
from carddav.services.merged_values import merge_values
from carddav.sync.context import Context
from carddav.sync.fields import changed_fields, remote_fields
from carddav.sync.people import load_sides, write_fields
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.photos.files import PictureRefusedError, upload_photo
from people.photos.images import as_stored
from people.services.people import delete_people, restore_person
from people.vcard import Card, VCardError, read_card

_NO_CARD = "The server's card was not kept with this conflict: only keep_local can be chosen."
_PICTURE_ELSEWHERE = "The server's picture is an address on the net, and no server is asked here: choose another way."


def kept_card(conflict: Conflict) -> Card:
    """The card of the record. Raises FieldError where there is none."""
    try:
        return read_card(conflict.remote_raw)[0]
    except VCardError as error:
        raise FieldError("resolution", _NO_CARD) from error


def kept_picture(context: Context, conflict: Conflict, resolution: str) -> bytes | None:
    """The picture that the decision takes from the record's card, stored for the write. Outside of transactions.

    Raises FieldError where it cannot be had without a request.
    """
    names = {entry["field"] for entry in conflict.fields}
    if conflict.kind != ConflictKind.FIELDS or resolution != Resolution.KEEP_REMOTE or "photo" not in names:
        return None
    card = kept_card(conflict)
    if not card.photo:
        if card.photo_url:
            raise FieldError("resolution", _PICTURE_ELSEWHERE)
        return None
    try:
        jpeg = as_stored(card.photo, context.pixels)
    except PictureRefusedError as error:
        raise FieldError("resolution", str(error)) from error
    upload_photo(owner_id=context.owner.pk, jpeg=jpeg)
    return jpeg


def decide_without_card(
    context: Context,
    write: AccountWrite,
    conflict: Conflict,
    resolution: str,
    values: MappingOf[str, Any],
    picture: bytes | None,
) -> None:
    """Do here what was decided; the server is not asked. `keep_local` changes nothing. Raises FieldError."""
    person = conflict.person
    if conflict.kind == ConflictKind.FIELDS:
        _decide_fields(context, write, conflict, resolution, values, picture)
    elif conflict.kind == ConflictKind.REMOTE_DELETED and resolution == Resolution.KEEP_REMOTE:
        delete_people(owner=context.owner, person_ids=[person.pk], options={}, now=write.now)
    elif conflict.kind == ConflictKind.LOCAL_DELETED and resolution != Resolution.KEEP_LOCAL and person.deleted_at:
        restore_person(owner=context.owner, person=person, now=write.now)


def _decide_fields(
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
    remote = remote_fields(kept_card(conflict))
    if resolution == Resolution.MERGED:
        merge_values(context, conflict.person_id, names, remote, values, write.now)
        return
    side = load_sides(context.owner, [conflict.person_id])[conflict.person_id]
    target = {**side.fields, **{name: remote[name] for name in names}}
    if changed := changed_fields(side.fields, target):
        write_fields(context.owner, write, side, target, changed, picture)
