"""New cards: who of the people without a card they are, and the people made of the others."""

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
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY, remote_fields
from carddav.sync.index import Known
from carddav.sync.merge import NEVER, Sides, merge
from carddav.sync.people import LocalSide, create_from_cards, load_sides
from carddav.sync.pictures import Picture, stored_picture_of
from carddav.sync.recovery import matches_intent
from carddav.sync.write_results import finish_found_write
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.importing.known import place_of, uid_spellings
from people.models import Person
from people.vcard import Card, without_photo

_MAX_NAMESAKES = 20


@dataclass(slots=True)
class NewCard:
    """A card that nobody here is known to be."""

    fetched: FetchedCard
    card: Card
    picture: Picture | None = None


class Linker:
    """Which unmapped people the new cards of a batch are: by the name under which we sent it, by UID, then by saying
    the very same."""

    def __init__(self, context: Context, batch: list[NewCard], missing: dict[str, Known] | None = None) -> None:
        self.context = context
        owner = context.owner
        self.linked_ids: set[UUID] = set()
        active = Person.objects.owned_by(owner).active()
        uids = {spelling for new in batch if new.card.uid for spelling in uid_spellings(new.card.uid)}
        names = {place_of(new.card) for new in batch}
        # Whose card is missing is free as well: its href may have changed.
        moved = [known.row_id for known in (missing or {}).values() if known.kind == "mapping"]
        mapped = Mapping.objects.owned_by(owner).exclude(remote_raw="").exclude(pk__in=moved).values("person_id")
        free = active.exclude(pk__in=mapped)
        sent = open_creates(context).filter(href_key__in=[new.fetched.key for new in batch])
        self.by_href: dict[str, UUID] = dict(sent.values_list("href_key", "mapping__person_id"))
        self.by_uid: dict[str, UUID] = dict(free.filter(uid__in=uids).values_list("uid", "pk"))
        ids = list(
            free.filter(sort_key__in=names).order_by("id").values_list("pk", flat=True)[: _MAX_NAMESAKES * len(batch)]
        )
        self.namesakes: dict[bytes, list[LocalSide]] = {}
        for side in load_sides(owner, ids).values():
            self.namesakes.setdefault(bytes(side.person.sort_key), []).append(side)

    def person_of(self, new: NewCard) -> UUID | None:
        """The person, each only once."""
        by_uid = [self.by_uid.get(uid) for uid in (uid_spellings(new.card.uid) if new.card.uid else ())]
        for person_id in [self.by_href.get(new.fetched.key), *by_uid]:
            if person_id is not None and person_id not in self.linked_ids:
                self.linked_ids.add(person_id)
                return person_id
        # Pictures are left out: a server may keep another encoding of the same one.
        remote = {**remote_fields(new.card), "photo": None}
        for side in self.namesakes.get(place_of(new.card), ())[:_MAX_NAMESAKES]:
            local = {**side.fields, "photo": None}
            if side.person.pk not in self.linked_ids and _is_same_contact(local, remote):
                self.linked_ids.add(side.person.pk)
                return side.person.pk
        return None


def _is_same_contact(local: dict[str, object], remote: dict[str, object]) -> bool:
    merged = merge(NEVER, Sides(local, remote))
    return not merged.conflicts and merged.target == Sides(local, remote)


def open_creates(context: Context) -> OwnedQuerySet[JournalEntry]:
    """The new cards of unknown outcome whose people are still without a card."""
    rows = JournalEntry.objects.owned_by(context.owner).filter(connection=context.connection)
    rows = rows.filter(state=JournalState.PREPARED, op=JournalOp.CREATE, mapping__remote_raw="")
    return rows.filter(mapping__person__deleted_at=None)


def link_card(
    context: Context, found: FetchedCard, card: Card, person_id: UUID, moved_from: Collection[str] = ()
) -> None:
    """Let the card be that person's. If they never met, the merge that follows joins them; of a card that moved, what
    was agreed on still holds. What we sent ourselves, and heard nothing of, is a write that is done."""
    intent = open_creates(context).select_related("mapping").filter(mapping__person=person_id).first()
    if intent is not None and matches_intent(intent, found):
        finish_found_write(context, intent, found)
        return
    with context.write():
        rows = Mapping.objects.owned_by(context.owner)
        queued = rows.filter(person=person_id).first()
        is_moved = queued is not None and bool(queued.remote_raw)
        # The person has another card, which is still there: two cards never become one person's.
        if is_moved and queued is not None and queued.href_key not in moved_from:
            return
        mapping = queued or Mapping(owner=context.owner, connection=context.connection, person_id=person_id)
        mapping.href, mapping.href_key, mapping.etag, mapping.uid = found.href, found.key, found.etag, card.uid
        mapping.remote_raw, mapping.local_rev = found.text, UNSENT
        if not is_moved:
            mapping.base_local, mapping.base_remote = dict(EMPTY), dict(EMPTY)
        mapping.status, mapping.error, mapping.body_hash = MappingStatus.CLEAN, "", ""
        mapping.save()
        Tombstone.objects.owned_by(context.owner).filter(connection=context.connection, href_key=found.key).delete()
        JournalEntry.objects.owned_by(context.owner).filter(mapping=mapping).delete()
        delete_todos(context, [found.key])


def import_cards(context: Context, batch: list[NewCard]) -> list[NewCard]:
    """Make people of the cards, in one transaction; returns those for which the plan has no room."""
    for new in batch:
        new.picture = stored_picture_of(new.card, context.pixels, context.owner.pk)
    with context.write() as write:
        quota = remaining_people_quota(context)
        # Counted under the lock, so that nobody makes people between the count and the insert.
        within_quota = batch if quota is None else batch[:quota]
        import_people(context, write, within_quota)
        delete_todos(context, [new.fetched.key for new in within_quota])
    return batch[len(within_quota) :]


def remaining_people_quota(context: Context) -> int | None:
    """How many people the plan has room for; None for any number. Inside the write."""
    limit = context.owner.plan_limit("people")
    return None if limit is None else max(0, limit - Person.objects.owned_by(context.owner).active().count())


def import_people(context: Context, write: AccountWrite, batch: Sequence[NewCard]) -> list[Person]:
    """People, and their mappings. Inside the write."""
    cards = []
    for new in batch:
        jpeg = new.picture.jpeg if new.picture else None
        cards.append((without_photo(new.card, is_taken=jpeg is not None) if new.card.photo else new.card, jpeg))
    sides = create_from_cards(context.owner, write, cards)
    Mapping.objects.bulk_create(
        Mapping(
            owner=context.owner,
            connection=context.connection,
            person=side.person,
            href=new.fetched.href,
            href_key=new.fetched.key,
            uid=new.card.uid,
            etag=new.fetched.etag,
            remote_raw=new.fetched.text,
            base_remote=remote_fields(new.card),
            base_local={**side.fields, "fn": side.full_name(context.connection.name_format)},
            local_rev=write.revision,
        )
        for new, side in zip(batch, sides, strict=True)
    )
    context.note_created([side.person for side in sides])
    context.tally.imported += len(sides)
    return [side.person for side in sides]


def delete_todos(context: Context, keys: list[str]) -> None:
    """These were fetched. Inside the write."""
    Todo.objects.owned_by(context.owner).filter(connection=context.connection, href_key__in=keys).delete()
