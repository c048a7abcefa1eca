"""New cards: matched with people who have no card, or imported as new people."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from carddav.client import Card as FetchedCard
from carddav.models import (
    UNSENT,
    JournalEntry,
    JournalOp,
    JournalState,
    Mapping,
    MappingStatus,
    Todo,
    Tombstone,
)
from carddav.sync.contacts import merge_contact
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY_FIELDS, remote_fields
from carddav.sync.index import KnownCard
from carddav.sync.merge import NO_BASES, Sides, merge
from carddav.sync.people import LocalContact, create_from_cards, load_local_contacts
from carddav.sync.pictures import Picture, load_and_store_picture
from carddav.sync.recovery import matches_intent
from carddav.sync.write_results import finish_found_write
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.importing.known import person_sort_key, uid_spellings
from people.models import Person
from people.vcard import Card, without_photo

_MAX_NAMESAKES_PER_CARD = 20


@dataclass(slots=True)
class NewCard:
    """A card that no mapping refers to."""

    fetched: FetchedCard
    card: Card
    picture: Picture | None = None

    def with_stored_photo(self) -> tuple[Card, bytes | None]:
        """The card without its photo, and the photo in its stored form if it could be read."""
        jpeg = self.picture.jpeg if self.picture else None
        return (without_photo(self.card, is_stored_elsewhere=jpeg is not None) if self.card.photo else self.card), jpeg


class CardMatcher:
    """Finds the unmapped person of each new card of a batch: by the href under which we sent it, by UID, then by equal
    content."""

    def __init__(self, context: Context, batch: list[NewCard], missing: dict[str, KnownCard] | None = None) -> None:
        self.context = context
        owner = context.owner
        self.linked_ids: set[UUID] = set()
        active = Person.objects.owned_by(owner).active()
        uids = {spelling for new in batch if new.card.uid for spelling in uid_spellings(new.card.uid)}
        names = {person_sort_key(new.card) for new in batch}
        # A person whose card is missing can be matched, too: its href may have changed.
        moved = [known.row_id for known in (missing or {}).values() if known.kind == "mapping"]
        mapped = Mapping.objects.owned_by(owner).exclude(remote_raw="").exclude(pk__in=moved).values("person_id")
        free = active.exclude(pk__in=mapped)
        sent = prepared_creates(context).filter(href_key__in=[new.fetched.key for new in batch])
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
        for person_id in [self.by_href.get(new.fetched.key), *by_uid]:
            if person_id is not None and person_id not in self.linked_ids:
                self.linked_ids.add(person_id)
                return person_id
        # Photos are not compared: the server may have re-encoded them.
        remote = {**remote_fields(new.card), "photo": None}
        for contact in self.namesakes.get(person_sort_key(new.card), ())[:_MAX_NAMESAKES_PER_CARD]:
            local = {**contact.fields, "photo": None}
            if contact.person.pk not in self.linked_ids and _is_same_contact(local, remote):
                self.linked_ids.add(contact.person.pk)
                return contact.person.pk
        return None


def _is_same_contact(local: dict[str, object], remote: dict[str, object]) -> bool:
    merged = merge(NO_BASES, Sides(local, remote))
    return not merged.conflicts and merged.target == Sides(local, remote)


def prepared_creates(context: Context) -> OwnedQuerySet[JournalEntry]:
    """The creates of unknown outcome whose person still has no card."""
    rows = JournalEntry.objects.owned_by(context.owner).filter(connection=context.connection)
    rows = rows.filter(state=JournalState.PREPARED, op=JournalOp.CREATE, mapping__remote_raw="")
    return rows.filter(mapping__person__deleted_at=None)


def link_card(
    context: Context, found: FetchedCard, card: Card, person_id: UUID, moved_from: Collection[str] = ()
) -> None:
    """Map the card to the person. The merge that follows joins their contents; for a card that only moved to another
    href the bases stay valid.

    A card that matches a create of unknown outcome is recorded as our own write.
    """
    intent = prepared_creates(context).select_related("mapping").filter(mapping__person=person_id).first()
    if intent is not None and matches_intent(intent, found):
        finish_found_write(context, intent, found)
        return
    with context.write():
        rows = Mapping.objects.owned_by(context.owner)
        queued = rows.filter(person=person_id).first()
        is_moved = queued is not None and bool(queued.remote_raw)
        # The person has another card that still exists: two cards must not become one person.
        if is_moved and queued is not None and queued.href_key not in moved_from:
            return
        mapping = queued or Mapping(owner=context.owner, connection=context.connection, person_id=person_id)
        mapping.href, mapping.href_key, mapping.etag, mapping.uid = found.href, found.key, found.etag, card.uid
        mapping.remote_raw, mapping.local_rev = found.text, UNSENT
        if not is_moved:
            mapping.base_local, mapping.base_remote = dict(EMPTY_FIELDS), dict(EMPTY_FIELDS)
        mapping.status, mapping.error, mapping.body_hash = MappingStatus.CLEAN, "", ""
        mapping.save()
        Tombstone.objects.owned_by(context.owner).filter(connection=context.connection, href_key=found.key).delete()
        # The person has a card now: an open create must not be sent again.
        JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()
        delete_todos(context, [found.key])


def link_and_merge(context: Context, new: NewCard, person_id: UUID, moved_from: Collection[str] = ()) -> None:
    """Map the card to the person and merge both."""
    link_card(context, new.fetched, new.card, person_id, moved_from)
    mapping = Mapping.objects.owned_by(context.owner).filter(person=person_id).first()
    if mapping is not None:
        merge_contact(context, mapping.pk)


def import_cards(context: Context, batch: list[NewCard]) -> list[NewCard]:
    """Create people from the cards in one transaction; returns the cards for which the plan has no room."""
    # Pictures are downloaded and stored before the transaction, which must not wait for the network.
    for new in batch:
        new.picture = load_and_store_picture(new.card, context.pixel_budget, context.owner.pk)
    with context.write() as write:
        quota = remaining_people_quota(context)
        # Counted under the lock, so that no other request creates people between the count and the insert.
        within_quota = batch if quota is None else batch[:quota]
        import_people(context, write, within_quota)
        delete_todos(context, [new.fetched.key for new in within_quota])
    return batch[len(within_quota) :]


def remaining_people_quota(context: Context) -> int | None:
    """How many people the plan still allows, None if unlimited. Must be called inside the write."""
    limit = context.owner.plan_limit("people")
    return None if limit is None else max(0, limit - Person.objects.owned_by(context.owner).active().count())


def import_people(context: Context, write: AccountWrite, batch: Sequence[NewCard]) -> list[Person]:
    """Create people from the cards, with their mappings. Must be called inside the write."""
    contacts = create_from_cards(context.owner, write, [new.with_stored_photo() for new in batch])
    Mapping.objects.bulk_create(
        Mapping(
            owner=context.owner,
            connection=context.connection,
            person=contact.person,
            href=new.fetched.href,
            href_key=new.fetched.key,
            uid=new.card.uid,
            etag=new.fetched.etag,
            remote_raw=new.fetched.text,
            base_remote=remote_fields(new.card),
            base_local={**contact.fields, "fn": contact.full_name(context.connection.name_format)},
            local_rev=write.revision,
        )
        for new, contact in zip(batch, contacts, strict=True)
    )
    people = [contact.person for contact in contacts]
    context.record_created(people)
    context.tally.imported += len(people)
    return people


def delete_todos(context: Context, keys: list[str]) -> None:
    """Delete the Todo rows of cards that were fetched. Must be called inside the write."""
    Todo.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys).delete()
