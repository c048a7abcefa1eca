"""Which cards the push would send, decided without sending any."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from uuid import UUID

from django.utils import timezone

from carddav.models import HeldBack, Mapping, OtherCard, OtherKind
from carddav.sync.cards import hash_text
from carddav.sync.contacts import load_mapping, merge_contact
from carddav.sync.context import CARD_PROBLEM, Context
from carddav.sync.drafts import draft_card
from carddav.sync.plan import Action, Counts, Planned
from carddav.sync.unsent import new_people, unsent_mapping_ids
from contacts_project.kernel.texts import define_text
from people.contents.contact import load_local_contact
from people.photos.files import read_photo
from people.vcard import VCardError

_NOT_OVERWRITTEN = define_text(
    "contact_not_sent_over_unreadable", "the contact was not sent, since the card there cannot be read"
)


def plan_push(context: Context) -> Iterator[Planned]:
    """What the push would send, one action for each contact that is not planned yet. For a contact with a card the
    merge with that card decides."""
    for key in without_unreadable(context, unsent_mapping_ids(context.connection)):
        mapping = load_mapping(context, key)
        if mapping is None:
            continue
        if mapping.has_card:
            with suppress(VCardError):  # the push reports it
                merge_contact(context, key)
        elif not _is_new_card_held_back(context, mapping):
            yield Planned(Action.CREATE, there=lambda: Counts(exported=1), mapping_id=key)
    for person_id in new_people(context.connection).values_list("pk", flat=True):
        # A person whom this run has linked to a card gets no other.
        if person_id not in context.linked_people:
            yield Planned(Action.CREATE, there=lambda: Counts(exported=1))


def _is_new_card_held_back(context: Context, mapping: Mapping) -> bool:
    if not mapping.code:
        return False
    contact = load_local_contact(context.owner, mapping.person_id)
    photo = read_photo(contact.person.photo) if contact.person.photo else None
    draft = draft_card(context, mapping, contact, photo, 0, with_photo=True)
    return draft is not None and mapping.is_held_back(draft.hash, timezone.now())


def _hold_back_unreadable(context: Context, mapping_id: UUID) -> None:
    with context.write() as write:
        mapping = load_mapping(context, mapping_id)
        if mapping is not None and mapping.code != HeldBack.UNREADABLE:
            mapping.hold_back(HeldBack.UNREADABLE, _NOT_OVERWRITTEN, hash_text(mapping.remote_raw), write.now)


def without_unreadable(context: Context, mapping_ids: list[UUID]) -> list[UUID]:
    """Those whose card can be read. A card that cannot be may hold more than is known here: it is not overwritten."""
    if not mapping_ids:
        return []
    of_book = {"connection": context.connection.pk}
    others = OtherCard.objects.owned_by(context.owner).filter(**of_book, kind=OtherKind.UNREADABLE)
    mappings = Mapping.objects.owned_by(context.owner).filter(**of_book, href_key__in=others.values("href_key"))
    stored = mappings.values_list("pk", "href", "href_key")
    unreadable = {pk: href for pk, href, key in stored if not context.readable.get(key)}
    # A dry run has not stored what it could not read.
    if found := [key for key, is_readable in context.readable.items() if not is_readable]:
        rows = Mapping.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=found)
        unreadable |= dict(rows.values_list("pk", "href"))
    for key in mapping_ids:
        if key in unreadable:
            context.tally.add_error(CARD_PROBLEM.format(href=unreadable[key], reason=_NOT_OVERWRITTEN))
            context.act(partial(_hold_back_unreadable, context, key))
    return [key for key in mapping_ids if key not in unreadable]
