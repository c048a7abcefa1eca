"""What the push would send, decided without sending it: which contacts and new people, each with which text."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from carddav.models import (
    UNSENT,
    Connection,
    HeldBack,
    Mapping,
    MappingStatus,
    OtherCard,
    OtherKind,
    Tombstone,
    TombstoneState,
)
from carddav.models.mapping import hash_text
from carddav.sync.contacts import load_mapping, merge_contact, patched_text, plan_merge
from carddav.sync.context import CARD_PROBLEM, SyncContext
from carddav.sync.pictures import CardPicture
from carddav.sync.plan import Counts, SyncAction, SyncPlan
from contacts_project.kernel.texts import define_text
from people.contents.contact import LocalContact, load_local_contact
from people.contents.fields import EMPTY_FIELDS, Fields, remote_fields
from people.mentions import may_be_mentioned
from people.models import ImportantDate, Membership
from people.models.person import Person, PersonQuerySet
from people.photos.files import read_photo
from people.vcard import CardText, VCardError, write_card

_NOT_OVERWRITTEN = define_text(
    "contact_not_sent_over_unreadable", "the contact was not sent, since the card there cannot be read"
)

_IS_HELD_BACK = Q(status=MappingStatus.QUARANTINED, local_rev=UNSENT) & ~Q(body_hash="")


def unsent_mappings(connection: Connection) -> QuerySet[Mapping]:
    """Mappings whose person may differ from what both sides agreed on: the person, a date or a group's name has a
    higher revision than the mapping."""
    owner_id = connection.owner_id
    rows = Mapping.objects.owned_by(owner_id).filter(connection=connection.pk)
    rows = rows.filter(person__deleted_at=None, person__card_dav_sync_enabled=True).exclude(status=MappingStatus.HELD)
    dates = ImportantDate.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), revision__gt=OuterRef("local_rev")
    )
    groups = Membership.objects.owned_by(owner_id).filter(
        person=OuterRef("person"), group__revision__gt=OuterRef("local_rev")
    )
    is_edited = Q(person__revision__gt=F("local_rev")) | Exists(dates) | Exists(groups)
    return rows.filter(Q(status=MappingStatus.DIRTY) | is_edited)


def unsent_mapping_ids(connection: Connection) -> list[UUID]:
    """The ids of `unsent_mappings`, oldest first."""
    return list(unsent_mappings(connection).order_by("id").values_list("pk", flat=True))


def new_people(connection: Connection) -> PersonQuerySet:
    """With autoExportNew, the people without a card who were created after the connection."""
    rows = unmapped_people(connection.owner_id)
    if not connection.auto_export_new:
        return rows.none()
    since = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk).values("created_at")
    return rows.filter(created_at__gte=Subquery(since))


def unmapped_people(owner_id: UUID) -> PersonQuerySet:
    """The people who may get a card and have none."""
    mapped = Mapping.objects.owned_by(owner_id).values("person_id")
    return people_for_new_cards(owner_id).exclude(pk__in=mapped)


def people_for_new_cards(owner_id: UUID) -> PersonQuerySet:
    """The people who may get a card. A card that is there stays when its person becomes quiet, and goes on being
    synced."""
    return Person.objects.owned_by(owner_id).active().filter(may_be_mentioned(), card_dav_sync_enabled=True)


def next_retry_at(connection: Connection) -> dt.datetime | None:
    """When the first of the cards that are held back may be tried again; None if none may before it changes."""
    rows = Mapping.objects.owned_by(connection.owner_id).filter(connection=connection.pk).held_back()
    # A server without room, or a book that can only be read, waits for the next run that is due anyway.
    rows = rows.filter(failures__gt=0, next_try_at__isnull=False)
    return rows.order_by("next_try_at").values_list("next_try_at", flat=True).first()


def has_unsent(connection: Connection) -> bool:
    """Whether a run would send something. Cards that are held back do not count, unless the user lets them be tried."""
    to_delete = Tombstone.objects.owned_by(connection.owner_id).filter(
        connection=connection, state=TombstoneState.TO_DELETE
    )
    return (
        unsent_mappings(connection).exclude(_IS_HELD_BACK).exists()
        or to_delete.exists()
        or new_people(connection).exists()
    )


def plan_push(context: SyncContext) -> Iterator[SyncPlan]:
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
            yield SyncPlan(SyncAction.CREATE, there=lambda: Counts(exported=1), mapping_id=key)
    for person_id in new_people(context.connection).values_list("pk", flat=True):
        # A person whom this run has linked to a card gets no other.
        if person_id not in context.linked_people:
            yield SyncPlan(SyncAction.CREATE, there=lambda: Counts(exported=1))


def _is_new_card_held_back(context: SyncContext, mapping: Mapping) -> bool:
    if not mapping.code:
        return False
    contact = load_local_contact(context.owner, mapping.person_id)
    photo = read_photo(contact.person.photo) if contact.person.photo else None
    draft = draft_card(context, mapping, contact, photo, 0, with_photo=True)
    return draft is not None and mapping.is_held_back(draft.hash, timezone.now())


def _hold_back_unreadable(context: SyncContext, mapping_id: UUID) -> None:
    with context.write() as write:
        mapping = load_mapping(context, mapping_id)
        if mapping is not None and mapping.code != HeldBack.UNREADABLE:
            mapping.hold_back(HeldBack.UNREADABLE, _NOT_OVERWRITTEN, hash_text(mapping.remote_raw), write.now)


def without_unreadable(context: SyncContext, mapping_ids: list[UUID]) -> list[UUID]:
    """Those whose card can be read. A card that cannot be may hold more than is known here: it is not overwritten."""
    if not mapping_ids:
        return []
    of_book = {"connection": context.connection.pk}
    others = OtherCard.objects.owned_by(context.owner).filter(**of_book, kind=OtherKind.UNREADABLE)
    mappings = Mapping.objects.owned_by(context.owner).filter(**of_book, href_key__in=others.values("href_key"))
    stored = mappings.values_list("pk", "href", "href_key")
    unreadable = {pk: href for pk, href, key in stored if not context.readable.get(key)}
    # A dry run has not stored what it could not read.
    if keys := [key for key, is_readable in context.readable.items() if not is_readable]:
        rows = Mapping.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys)
        unreadable |= dict(rows.values_list("pk", "href"))
    for key in mapping_ids:
        if key in unreadable:
            context.tally.add_error(CARD_PROBLEM.format(href=unreadable[key], reason=_NOT_OVERWRITTEN))
            context.act(partial(_hold_back_unreadable, context, key))
    return [key for key in mapping_ids if key not in unreadable]


class NeedsMergeError(Exception):
    """The card has values that the person does not have: they must be merged first."""


@dataclass(frozen=True, slots=True)
class CardDraft:
    """A card to be sent: `render` returns its text with a REV, `hash` is the hash of its text without one, and
    `base_local` is the local base once the write has succeeded."""

    render: Callable[[str], str]
    hash: str
    base_local: Fields


def draft_card(
    context: SyncContext,
    mapping: Mapping,
    contact: LocalContact,
    photo: bytes | None,
    revision: int,
    *,
    with_photo: bool,
) -> CardDraft | None:
    """The card to be sent; None if the server's card is up to date, which is recorded with the account's `revision`.

    Must be called inside the write. Raises NeedsMergeError, VCardError.
    """
    name_format = context.connection.name_format
    full_name = contact.full_name(name_format)
    base_local = {**contact.fields, "fn": full_name}
    if not mapping.remote_raw:
        picture = photo if with_photo else None

        def render_new(revised: str | None = None) -> str:
            # Version 3.0, which every server accepts, without the field that is never sent.
            card = replace(contact.card, photo=picture, last_contact=None)
            return write_card(card, "3.0", full_name=full_name, revised=revised)

        return CardDraft(render_new, hash_text(render_new()), base_local)
    before = CardText(mapping.remote_raw)
    remote = remote_fields(before.card)
    merge_plan = plan_merge(mapping, contact, remote, CardPicture(remote["photo"]), name_format)
    if merge_plan.changed:
        raise NeedsMergeError
    conflicting = {conflict.field for conflict in merge_plan.merged.conflicts}
    # A field in conflict is not sent, so its base stays.
    base_local |= {field: mapping.base_local.get(field) for field in conflicting}

    def render_patch(revised: str | None = None) -> str | None:
        return patched_text(before, merge_plan, full_name, photo, with_photo=with_photo, revised=revised)

    if (plain := render_patch()) is not None:
        return CardDraft(lambda revised: render_patch(revised) or plain, hash_text(plain), base_local)
    base_remote = {
        field: mapping.base_remote.get(field) if field in conflicting else remote[field] for field in EMPTY_FIELDS
    }
    mapping.agree((base_local, base_remote), revision, is_conflict=bool(conflicting))
    return None
