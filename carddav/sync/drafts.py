"""What would be sent for a contact now."""

from collections.abc import Callable
from dataclasses import dataclass

from carddav.models import Mapping, MappingStatus
from carddav.sync.cards import new_text, text_hash
from carddav.sync.contacts import plan_merge
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY, Fields, card_with, changed_fields, remote_fields
from carddav.sync.people import LocalSide
from carddav.sync.pictures import Picture
from people.vcard import patch_card, read_card


class NeedsMergeError(Exception):
    """The card says something that the person does not: that is to be merged first."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A card to be sent: its text with a REV, the hash of it without, and the local base once it is there."""

    text: Callable[[str], str]
    hash: str
    base_local: Fields


def draft_of(
    context: Context, mapping: Mapping, side: LocalSide, photo: bytes | None, revision: int, *, with_photo: bool
) -> Draft | None:
    """None where the card says it all already, which is noted with the account's `revision`. Inside the write.

    Raises NeedsMergeError, VCardError.
    """
    form = context.connection.name_format
    full_name = side.full_name(form)
    base_local = {**side.fields, "fn": full_name}
    if not mapping.remote_raw:
        picture = photo if with_photo else None

        def whole(revised: str | None = None) -> str:
            return new_text(side.card, photo=picture, full_name=full_name, revised=revised)

        return Draft(whole, text_hash(whole()), base_local)
    said, _ = read_card(mapping.remote_raw)
    remote = remote_fields(said)
    merge_plan = plan_merge(mapping, side, remote, Picture(remote["photo"]), form)
    if merge_plan.changed:
        raise NeedsMergeError
    held = {conflict.field for conflict in merge_plan.merged.conflicts}
    base_local |= {field: mapping.base_local.get(field) for field in held}
    target, changed = merge_plan.merged.target.remote, changed_fields(remote, merge_plan.merged.target.remote)
    if not with_photo:
        changed -= {"photo"}

    def patched(revised: str | None = None) -> str:
        new_name = full_name if merge_plan.is_renamed else None
        card = card_with(said, target, changed, photo)
        return patch_card(mapping.remote_raw, card, full_name=new_name, revised=revised)

    plain = patched() if changed or merge_plan.is_renamed else mapping.remote_raw
    if plain != mapping.remote_raw:
        return Draft(patched, text_hash(plain), base_local)
    mapping.base_local, mapping.local_rev = base_local, revision
    mapping.base_remote = {field: mapping.base_remote.get(field) if field in held else remote[field] for field in EMPTY}
    mapping.status = MappingStatus.CONFLICT if held else MappingStatus.CLEAN
    mapping.save()
    return None
