"""Builds the card that would be sent for a contact now."""

from collections.abc import Callable
from dataclasses import dataclass

from carddav.models import Mapping
from carddav.sync.cards import hash_text, render_new_card
from carddav.sync.contact_plan import patched_text, plan_merge
from carddav.sync.context import Context
from carddav.sync.pictures import Picture
from people.contents.contact import LocalContact
from people.contents.fields import EMPTY_FIELDS, Fields, remote_fields
from people.vcard import CardText


class NeedsMergeError(Exception):
    """The card has values that the person does not have: they must be merged first."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A card to be sent: `render` returns its text with a REV, `hash` is the hash of its text without one, and
    `base_local` is the local base once the write has succeeded."""

    render: Callable[[str], str]
    hash: str
    base_local: Fields


def draft_card(
    context: Context, mapping: Mapping, contact: LocalContact, photo: bytes | None, revision: int, *, with_photo: bool
) -> Draft | None:
    """The card to be sent; None if the server's card is up to date, which is recorded with the account's `revision`.

    Must be called inside the write. Raises NeedsMergeError, VCardError.
    """
    name_format = context.connection.name_format
    full_name = contact.full_name(name_format)
    base_local = {**contact.fields, "fn": full_name}
    if not mapping.remote_raw:
        picture = photo if with_photo else None

        def render_new(revised: str | None = None) -> str:
            return render_new_card(contact.card, photo=picture, full_name=full_name, revised=revised)

        return Draft(render_new, hash_text(render_new()), base_local)
    before = CardText(mapping.remote_raw)
    remote = remote_fields(before.card)
    merge_plan = plan_merge(mapping, contact, remote, Picture(remote["photo"]), name_format)
    if merge_plan.changed:
        raise NeedsMergeError
    conflicting = {conflict.field for conflict in merge_plan.merged.conflicts}
    # A field in conflict is not sent, so its base stays.
    base_local |= {field: mapping.base_local.get(field) for field in conflicting}

    def render_patch(revised: str | None = None) -> str | None:
        return patched_text(before, merge_plan, full_name, photo, with_photo=with_photo, revised=revised)

    if (plain := render_patch()) is not None:
        return Draft(lambda revised: render_patch(revised) or plain, hash_text(plain), base_local)
    base_remote = {
        field: mapping.base_remote.get(field) if field in conflicting else remote[field] for field in EMPTY_FIELDS
    }
    mapping.agree((base_local, base_remote), revision, is_conflict=bool(conflicting))
    return None
