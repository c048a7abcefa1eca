"""Finds the person that a card of a batch means: by UID, or by name and contact key.

The people of a whole batch are read in a few statements.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from people.fields.cards import card_of
from people.importing.dry_run import DryRun
from people.importing.known import (
    ContactKey,
    Item,
    KnownPerson,
    contact_keys,
    name_key,
    person_sort_key,
    uid_key,
    uid_spellings,
)
from people.models import ImportantDate, LookupKey, Membership, Person
from people.models.person import uid_of

#: How many namesakes a card is compared with, and how many people one query reads: a hostile file could have many more.
_MAX_NAMESAKES = 100
_MAX_CANDIDATES = 500


class Candidates:
    """The candidates of one batch. `seen` contains the UIDs of earlier batches, `met` those of this one."""

    def __init__(self, owner: User, seen: Collection[str], dry_run: DryRun | None) -> None:
        self.owner, self.seen, self.dry_run = owner, seen, dry_run
        self.met: set[str] = set()
        self.known: list[KnownPerson] = []
        self._by_uid: dict[str, list[KnownPerson]] = defaultdict(list)
        self._by_name: dict[tuple[bytes, ContactKey | None], list[KnownPerson]] = defaultdict(list)

    def load(self, items: Collection[Item]) -> None:
        """Read the people that these cards may mean; in a dry run also what earlier batches would have written."""
        people = self._load_stored(items)
        planned = self.dry_run.find(items) if self.dry_run else {}
        if self.dry_run:
            # A person that somebody else has deleted since the earlier batch is no candidate any more.
            changed = Person.objects.owned_by(self.owner).active().in_bulk(planned)
            planned = {key: known for key, known in planned.items() if known.is_new or key in changed}
            for key, person in changed.items():
                planned[key].person = person
            people = {key: person for key, person in people.items() if key not in self.dry_run.people}
        for known in self._build_known(people):
            self.add(known)
        for known in planned.values():
            self.add(known)

    def add(self, known: KnownPerson) -> None:
        self.known.append(known)
        self.index(known)

    def index(self, known: KnownPerson) -> None:
        """Index a person by its UIDs, by its name, and by its name with each contact key."""
        for uid in {uid_key(uid) for uid in (known.card.uid, uid_of(known.person.pk)) if uid}:
            _add_to_bucket(self._by_uid[uid], known)
        name = name_key(known.card)
        for key in (None, *contact_keys(known.card)):
            _add_to_bucket(self._by_name[name, key], known)

    def find_by_uid(self, item: Item) -> tuple[KnownPerson | None, bool]:
        """Return the person with the card's UID, and whether the card may overwrite the values of that person.

        The first card of a file with a UID is that contact. A later card with the same UID counts as the same contact
        only if it adds nothing: two contacts that share a UID by mistake must not overwrite each other.
        """
        card = item.card
        if not card.uid:
            return None, False
        key = uid_key(card.uid)
        found = [*self._by_uid.get(key, ())]
        if len(found) > 1:
            # Some programs copy a card with its UID, so several people have it: prefer the one with the same name.
            found.sort(key=lambda known: name_key(known.card) != item.name_key)
            del found[_MAX_NAMESAKES:]
        is_first = key not in self.seen and key not in self.met
        self.met.add(key)
        for known in found:
            if known.merged_with(card) == known.card:
                return known, is_first
        return (found[0], True) if found and is_first else (None, False)

    def find_by_name(self, item: Item) -> KnownPerson | None:
        """Return a namesake that the card does not contradict, if they share a contact key or the card adds nothing."""
        # A card without e-mail address and number matches by name alone, and only if it adds nothing.
        keys: list[ContactKey | None] = [*item.contact_keys]
        for key in keys or [None]:
            for known in self._by_name.get((item.name_key, key), [])[:_MAX_NAMESAKES]:
                merged = known.merged_with(item.card)
                if merged and (key or merged == known.card):
                    return known
        return None

    def _load_stored(self, items: Collection[Item]) -> dict[UUID, Person]:
        """Read the active people that have a UID, or a name and a contact key, of these cards."""
        uids = {spelling for item in items if item.card.uid for spelling in uid_spellings(item.card.uid)}
        names = {item.name_key for item in items}
        keys = {key for item in items for _, key in item.contact_keys}
        keyless = {
            key for item in items if not item.contact_keys for key in (item.name_key, person_sort_key(item.card))
        }
        active = Person.objects.owned_by(self.owner).active()
        # Two index scans instead of a join: without fresh statistics PostgreSQL would read every person for the join.
        rows = LookupKey.objects.filter(owner=self.owner, kind__in=(LookupKey.EMAIL, LookupKey.PHONE), key__in=keys)
        shared = set(rows.values_list("person_id", flat=True)[: 10 * _MAX_CANDIDATES])
        people: dict[UUID, Person] = {}
        exported = {person_id for item in items if (person_id := parse_id(uid_key(item.card.uid or "")))}
        by_uid = (active.filter(uid__in=uids), active.filter(pk__in=exported)) if uids else ()
        for found in by_uid:
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        # People found by UID are not read again. The sort key of a person with a phonetic name is made from that name,
        # so such people cannot be found by the key of the written name and are all compared.
        may_match = Q(sort_key__in=names) | Q(phonetic_name__isnull=False) | Q(phonetic_surname__isnull=False)
        namesakes = active.filter(may_match, pk__in=shared - people.keys())
        nameless = active.filter(sort_key__in=keyless).exclude(pk__in=people)
        for found in (namesakes, nameless):
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        return people

    def _build_known(self, people: dict[UUID, Person]) -> Iterable[KnownPerson]:
        """Yield the people with their cards, ordered by id."""
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


def _add_to_bucket(bucket: list[KnownPerson], known: KnownPerson) -> None:
    if len(bucket) <= _MAX_CANDIDATES and known not in bucket:
        bucket.append(known)
