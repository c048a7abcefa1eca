"""What is done with one contact whose card is there, decided from its state on both sides, without reading anything."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from carddav.models import Conflict, Mapping, MappingStatus
from carddav.models.mapping import hash_text
from carddav.sync.pictures import Picture
from carddav.sync.plan import Action, Counts, Planned
from people.contents.contact import LocalContact
from people.contents.fields import SCALARS, Fields, changed_fields, remote_fields, replace_fields
from people.contents.merge import Merged, Sides, merge
from people.vcard import Card, CardText, patch_text
from people.vcard.full_name import names_of, says_only_name


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
    mapping: Mapping, contact: LocalContact, remote: Fields, picture: Picture, name_format: str
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


def _takes_remote_photo(merged: Merged, local: Fields, picture: Picture) -> bool:
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
    picture: Picture
    record: Conflict | None
    read_photo: Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class PlannedMerge(Planned):
    """The merge of a contact; without `merge` the person is not synced, and only the card's text is kept."""

    merge: MergePlan | None = None


def is_sync_suspended(contact: LocalContact) -> bool:
    """Whether the person is deleted or excluded from the sync."""
    return contact.person.deleted_at is not None or not contact.person.card_dav_sync_enabled


def plan_state(state: ContactState, name_format: str, now: dt.datetime) -> PlannedMerge:
    """What is done with a contact whose card is there; pure."""
    mapping, contact = state.mapping, state.contact
    if is_sync_suspended(contact):
        return PlannedMerge(Action.STORE_CARD, mapping_id=mapping.pk)
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

    return PlannedMerge(Action.MERGE, here=here, there=there, mapping_id=mapping.pk, merge=merge_plan)
