"""New cards: matched with people who have no card, or imported as new people."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from carddav.models import JournalEntry, JournalOp, JournalState, Mapping, Todo, Tombstone
from carddav.sync.contacts import ContactState, apply_state, merge_contact, plan_contact_now, read_state
from carddav.sync.context import SyncContext
from carddav.sync.index import IndexRow
from carddav.sync.journal import finish_unanswered_write, matches_intent
from carddav.sync.pictures import CardPicture, load_and_store_picture, load_changed_picture
from carddav.sync.plan import SyncPlan, plan_new_cards
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from contacts_project.kernel.webdav.shapes import Resource
from people.contents.contact import LocalContact, create_from_cards, load_local_contacts
from people.contents.fields import EMPTY_FIELDS, remote_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.importing.groups import join_awaiting_groups
from people.importing.matches import person_sort_keys
from people.models import Person
from people.services.plan_limits import remaining_in_plan
from people.vcard import Card, without_photo
from people.vcard.card import uid_spellings

_MAX_NAMESAKES_PER_CARD = 20


@dataclass(slots=True)
class NewCard:
    """A card that no mapping refers to."""

    remote_card: Resource
    card: Card
    picture: CardPicture | None = None

    def with_stored_photo(self) -> tuple[Card, bytes | None]:
        """The card without its photo, and the photo in its stored form if it could be read."""
        jpeg = self.picture.jpeg if self.picture else None
        return (without_photo(self.card, is_stored_elsewhere=jpeg is not None) if self.card.photo else self.card), jpeg


class CardMatcher:
    """Finds the unmapped person of each new card of a batch: by the href under which we sent it, by UID, then by equal
    content."""

    def __init__(self, context: SyncContext, batch: list[NewCard], missing: dict[str, IndexRow] | None = None) -> None:
        self.context = context
        owner = context.owner
        self.linked_ids = context.linked_people
        active = Person.objects.owned_by(owner).active()
        uids = {spelling for new in batch if new.card.uid for spelling in uid_spellings(new.card.uid)}
        names = {key for new in batch for key in person_sort_keys(new.card)}
        # A person whose card is missing can be matched, too: its href may have changed.
        moved = [row.pk for row in (missing or {}).values() if row.kind == "mapping"]
        mapped = Mapping.objects.owned_by(owner).exclude(remote_raw="").exclude(pk__in=moved).values("person_id")
        free = active.exclude(pk__in=mapped)
        sent = prepared_creates(context).filter(href_key__in=[new.remote_card.key for new in batch])
        self.by_href: dict[str, UUID] = dict(sent.values_list("href_key", "mapping__person_id"))
        self.by_uid: dict[str, UUID] = dict(free.filter(uid__in=uids).values_list("uid", "pk"))
        ids = list(
            free.filter(sort_key__in=names)
            .order_by("id")
            .values_list("pk", flat=True)[: _MAX_NAMESAKES_PER_CARD * len(batch)]
        )
        self.namesakes: dict[bytes, list[LocalContact]] = {}
        for contact in load_local_contacts(owner, ids).values():
            self.namesakes.setdefault(bytes(contact.person.sort_key), []).append(contact)

    def find_person(self, new: NewCard) -> UUID | None:
        """The person of the card, or None. Each person is returned once at most."""
        by_uid = [self.by_uid.get(uid) for uid in (uid_spellings(new.card.uid) if new.card.uid else ())]
        for person_id in [self.by_href.get(new.remote_card.key), *by_uid]:
            if person_id is not None and person_id not in self.linked_ids:
                self.linked_ids.add(person_id)
                return person_id
        # Photos are not compared: the server may have re-encoded them.
        remote = {**remote_fields(new.card), "photo": None}
        namesakes = [contact for key in sorted(person_sort_keys(new.card)) for contact in self.namesakes.get(key, ())]
        for contact in namesakes[:_MAX_NAMESAKES_PER_CARD]:
            local = {**contact.fields, "photo": None}
            if contact.person.pk not in self.linked_ids and _is_same_contact(local, remote):
                self.linked_ids.add(contact.person.pk)
                return contact.person.pk
        return None


def _is_same_contact(local: dict[str, object], remote: dict[str, object]) -> bool:
    merged = merge(NO_BASES, Sides(local, remote))
    return not merged.conflicts and merged.target == Sides(local, remote)


def prepared_creates(context: SyncContext) -> OwnedQuerySet[JournalEntry]:
    """The creates of unknown outcome whose person still has no card."""
    rows = JournalEntry.objects.owned_by(context.owner).filter(connection=context.connection)
    rows = rows.filter(state=JournalState.PREPARED, op=JournalOp.CREATE, mapping__remote_raw="")
    return rows.filter(mapping__person__deleted_at=None)


def link_and_merge(context: SyncContext, new: NewCard, person_id: UUID, moved_from: Collection[str] = ()) -> None:
    """Map the card to the person and merge both; for a card that only moved to another href the bases stay valid.

    A card that matches a create of unknown outcome is recorded as our own write.
    """
    remote_card, rows = new.remote_card, Mapping.objects.owned_by(context.owner)
    intent = prepared_creates(context).select_related("mapping").filter(mapping__person=person_id).first()
    if intent is not None and matches_intent(intent, remote_card):
        context.act(partial(_record_own_write, context, intent, remote_card))
        return
    queued = rows.filter(person=person_id).first()
    picture = load_changed_picture(context, new.card, queued.base_remote if queued and queued.has_card else {})

    def read() -> ContactState | None:
        mapping = rows.filter(person=person_id).first()
        # The person has another card that still exists: two cards must not become one person.
        is_moved = mapping is not None and mapping.has_card
        if is_moved and mapping is not None and mapping.href_key not in moved_from:
            return None
        if mapping is None:
            mapping = Mapping(owner=context.owner, connection=context.connection, person_id=person_id)
        context.relinked.add(mapping.href_key)
        mapping.keep_text(remote_card.text, remote_card.etag, new.card.uid)
        mapping.link(remote_card.href, remote_card.key, {} if is_moved else EMPTY_FIELDS)
        try:
            return read_state(context, mapping, new.card, picture)
        except KeyError:  # the person was deleted permanently meanwhile
            return None

    def apply(write: AccountWrite, state: ContactState, sync_plan: SyncPlan) -> None:
        apply_state(context, write, state, sync_plan)
        Tombstone.objects.owned_by(context.owner).filter(
            connection=context.connection, href_key=remote_card.key
        ).delete()
        # The person has a card now: an open create must not be sent again.
        JournalEntry.objects.owned_by(context.owner).filter(mapping=state.mapping).delete()
        delete_todos(context, [remote_card.key])

    context.decide(read, partial(plan_contact_now, context), apply)


def _record_own_write(context: SyncContext, intent: JournalEntry, remote_card: Resource) -> None:
    mapping_id = intent.mapping_id
    finish_unanswered_write(context, intent, remote_card)
    if mapping_id is not None:
        merge_contact(context, mapping_id)


def import_cards(context: SyncContext, batch: list[NewCard]) -> list[NewCard]:
    """Create people from the cards in one transaction; returns the cards for which the price plan has no room."""
    # Pictures are downloaded and stored before the transaction, which must not wait for the network.
    context.act(partial(_load_pictures, context, batch))
    # Counted under the lock, so that no other request creates people between the count and the insert.
    sync_plan = context.decide(
        lambda: [remaining_people_quota(context)],
        lambda quota: plan_new_cards(len(batch), quota[0]),
        lambda write, _, sync_plan: _import_within_quota(context, write, batch[: sync_plan.here.imported]),
    )
    return batch[sync_plan.here.imported :] if sync_plan else batch


def _load_pictures(context: SyncContext, batch: list[NewCard]) -> None:
    for new in batch:
        new.picture = load_and_store_picture(new.card, context.pixel_budget, context.owner.pk)


def _import_within_quota(context: SyncContext, write: AccountWrite, batch: list[NewCard]) -> None:
    people = import_people(context, write, batch)
    uids = ((person.pk, new.card.uid) for new, person in zip(batch, people, strict=True))
    if joined := join_awaiting_groups(context.owner, uids, write.now):
        # The groups are no part of the cards yet: the next run sends them.
        Mapping.objects.owned_by(context.owner).filter(person__in=joined).mark_unsent()
    delete_todos(context, [new.remote_card.key for new in batch])


def remaining_people_quota(context: SyncContext) -> int | None:
    """How many people the price plan still allows, None if unlimited. Must be called inside the write."""
    remaining = remaining_in_plan(context.owner, "people")
    return None if remaining is None else remaining - context.unwritten_imports


def import_people(context: SyncContext, write: AccountWrite, batch: Sequence[NewCard]) -> list[Person]:
    """Create people from the cards, with their mappings. Must be called inside the write."""
    contacts = create_from_cards(context.owner, write, [new.with_stored_photo() for new in batch])
    Mapping.objects.bulk_create(
        Mapping.agreed(
            ({**contact.fields, "fn": contact.full_name(context.connection.name_format)}, remote_fields(new.card)),
            write.revision,
            owner=context.owner,
            connection=context.connection,
            person=contact.person,
            href=new.remote_card.href,
            href_key=new.remote_card.key,
            uid=new.card.uid,
            etag=new.remote_card.etag,
            remote_raw=new.remote_card.text,
        )
        for new, contact in zip(batch, contacts, strict=True)
    )
    people = [contact.person for contact in contacts]
    context.record_created(people)
    return people


def delete_todos(context: SyncContext, keys: list[str]) -> None:
    """Delete the Todo rows of cards that were fetched. Must be called inside the write."""
    Todo.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys).delete()
