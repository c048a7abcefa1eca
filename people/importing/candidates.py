"""The people whom the cards of a batch may mean: read in a few statements, then found by UID, or by name and key."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.api.json import parse_id
from people.fields.cards import card_of
from people.importing.dry_run import DryRun
from people.importing.known import ContactKey, Item, KnownPerson, contact_keys, name_key, person_sort_key, uid_spellings
from people.models import ImportantDate, LookupKey, Membership, Person
from people.models.person import uid_of

#: Namesakes without a key, or with the same one, that a card is compared with; a hostile file might have more.
_MAX_NAMESAKES = 100
_MAX_CANDIDATES = 500


class Candidates:
    """Those of one batch. `seen` are the UIDs that cards of earlier batches had, `met` those of this one."""

    def __init__(self, owner: User, seen: Collection[str], dry_run: DryRun | None) -> None:
        self.owner, self.seen, self.dry_run = owner, seen, dry_run
        self.met: set[str] = set()
        self.known: list[KnownPerson] = []
        self._by_uid: dict[str, list[KnownPerson]] = defaultdict(list)
        self._by_name: dict[tuple[bytes, ContactKey | None], list[KnownPerson]] = defaultdict(list)

    def load(self, items: Collection[Item]) -> None:
        """Read whom these cards may mean; in a dry run also whom earlier batches would have written."""
        people = self._stored(items)
        planned = self.dry_run.find(items) if self.dry_run else {}
        if self.dry_run:
            changed = Person.objects.owned_by(self.owner).active().in_bulk(planned)
            planned = {key: known for key, known in planned.items() if known.is_new or key in changed}
            for key, person in changed.items():
                planned[key].person = person
            people = {key: person for key, person in people.items() if key not in self.dry_run.people}
        for known in self._with_cards(people):
            self.add(known)
        for known in planned.values():
            self.add(known)

    def add(self, known: KnownPerson) -> None:
        self.known.append(known)
        self.index(known)

    def index(self, known: KnownPerson) -> None:
        """Make it findable by its UIDs, its name, and its name with each of its keys."""
        for uid in filter(None, {known.card.uid, uid_of(known.person.pk)}):
            _put(self._by_uid[uid], known)
        name = name_key(known.card)
        for key in (None, *contact_keys(known.card)):
            _put(self._by_name[name, key], known)

    def by_uid(self, item: Item) -> tuple[KnownPerson | None, bool]:
        """The person with the card's UID, and whether the card's word counts for it.

        The first card of a file with some UID is that contact. Another one with the same UID is only the same when it
        says nothing new: two contacts that share a UID by mistake must not overwrite each other.
        """
        card = item.card
        if not card.uid:
            return None, False
        spellings = uid_spellings(card.uid)
        found = [known for uid in spellings for known in self._by_uid.get(uid, ())]
        if len(found) > 1:
            # Programs copy cards with their UID: of several people the one of the same name is meant.
            found.sort(key=lambda known: name_key(known.card) != item.name)
        is_first = spellings[0] not in self.seen and spellings[0] not in self.met
        self.met.update(spellings)
        for known in found:
            if known.merged_with(card) == known.card:
                return known, is_first
        return (found[0], True) if found and is_first else (None, False)

    def by_name(self, item: Item) -> KnownPerson | None:
        """A namesake whom the card does not contradict, and with whom it shares a key or to whom it adds nothing."""
        # Without an address or a number the name alone must do, and only where the card adds nothing.
        keys: list[ContactKey | None] = [*item.keys]
        for key in keys or [None]:
            for known in self._by_name.get((item.name, key), [])[:_MAX_NAMESAKES]:
                merged = known.merged_with(item.card)
                if merged and (key or merged == known.card):
                    return known
        return None

    def _stored(self, items: Collection[Item]) -> dict[UUID, Person]:
        uids = {spelling for item in items if item.card.uid for spelling in uid_spellings(item.card.uid)}
        names = {item.name for item in items}
        keys = {key for item in items for _, key in item.keys}
        keyless = {key for item in items if not item.keys for key in (item.name, person_sort_key(item.card))}
        active = Person.objects.owned_by(self.owner).active()
        # Two plain index scans: joined in one statement, PostgreSQL without fresh statistics compares everybody.
        rows = LookupKey.objects.filter(owner=self.owner, kind__in=(LookupKey.EMAIL, LookupKey.PHONE), key__in=keys)
        shared = set(rows.values_list("person_id", flat=True)[: 10 * _MAX_CANDIDATES])
        people: dict[UUID, Person] = {}
        exported = {person_id for uid in uids if (person_id := parse_id(uid.removeprefix("urn:uuid:")))}
        by_uid = (active.filter(uid__in=uids), active.filter(pk__in=exported)) if uids else ()
        for found in by_uid:
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        # Who is known by a UID is not read once more.
        # Who stands where the name is spoken, and not where it is written, is compared as well.
        named = Q(sort_key__in=names) | Q(phonetic_name__isnull=False) | Q(phonetic_surname__isnull=False)
        namesakes = active.filter(named, pk__in=shared - people.keys())
        nameless = active.filter(sort_key__in=keyless).exclude(pk__in=people)
        for found in (namesakes, nameless):
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        return people

    def _with_cards(self, people: dict[UUID, Person]) -> Iterable[KnownPerson]:
        """The people with their cards, in the order of their ids."""
        dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
        groups: dict[UUID, list[str]] = defaultdict(list)
        if people:
            for row in ImportantDate.objects.owned_by(self.owner).active().filter(person__in=people).order_by("id"):
                dates[row.person_id].append(row)
            memberships = Membership.objects.owned_by(self.owner).filter(person__in=people, group__deleted_at=None)
            for person_id, name in memberships.order_by("id").values_list("person_id", "group__name"):
                groups[person_id].append(name)
        for key in sorted(people):
            card = card_of(people[key], dates[key], groups[key])
            yield KnownPerson(people[key], card, card, rows=dates[key])


def _put(bucket: list[KnownPerson], known: KnownPerson) -> None:
    if len(bucket) <= _MAX_CANDIDATES and known not in bucket:
        bucket.append(known)
