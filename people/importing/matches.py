"""Which person a card of an import means: by UID, or by name and contact key.

The people of a whole batch are read in a few statements.
"""

import pickle
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import Text
from people.contents.contact import local_contacts_of
from people.duplicates.keys import email_key
from people.importing.receipts import RecordOutcome
from people.models import ImportantDate, LookupKey, Person
from people.models.person import uid_of
from people.names import NameParts, sort_key
from people.phone_numbers import phone_keys
from people.vcard import Card, CardDate, CardResult
from people.vcard.card import uid_key, uid_spellings
from people.vcard.merge import merge_cards
from people.vcard.sort_names import sort_names

#: The kind and the key of a LookupKey.
ContactKey = tuple[int, str]
# How many people with the same name and contact key are compared with a card.
_MAX_PER_KEY = 100
#: How many namesakes a card is compared with, and how many people one query reads: a hostile file could have many more.
_MAX_NAMESAKES = 100
_MAX_CANDIDATES = 500


@dataclass(frozen=True, slots=True)
class ConvertedPhoto:
    """A photo that was converted outside the lock: the JPEG to store, and the hashes that identify it."""

    jpeg: bytes
    hashes: frozenset[str]


@dataclass(slots=True)
class Item:
    """A parsed card with its photo. `remarks` become those of its outcome."""

    result: CardResult
    card: Card
    picture: ConvertedPhoto | None = None
    remarks: list[Text] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)
    reminders: Mapping[CardDate, Mapping[str, Any]] = field(default_factory=dict)
    """The columns of the reminder of each important date of which the file says something."""
    birthday_count: int = 0
    """How many birthdays it brings."""
    reminder_count: int = 0
    """How many important dates that it brings have a reminder."""
    # The keys of the look-up, computed once and outside the lock.
    name_key: bytes = b""
    contact_keys: list[ContactKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name_key = self.name_key or name_key(self.card)
        self.contact_keys = self.contact_keys or contact_keys(self.card)

    def outcome(self, status: str, person_id: UUID | None) -> RecordOutcome:
        return RecordOutcome(
            self.result.index,
            self.result.name,
            status,
            person_id,
            tuple(self.remarks),
            birthdays=self.birthday_count,
            reminders=self.reminder_count,
        )


@dataclass(slots=True, eq=False)
class PersonMatch:
    """The person that cards of a file mean, stored or new.

    `card_before` is its card when it was read, `card` includes what the file adds.
    """

    person: Person
    card_before: Card
    card: Card
    rows: list[ImportantDate] = field(default_factory=list)
    picture: ConvertedPhoto | None = None
    is_new: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns of a new person that no card has."""
    reminders: dict[CardDate, Mapping[str, Any]] = field(default_factory=dict)
    """The columns of the reminders of important dates that the file adds."""

    def merged_with(self, card: Card, *, overwrite: bool = False) -> Card | None:
        """Like merge_cards, but the UID of the card is no conflict where it is another spelling of the person's own,
        which stays, or where it replaces one that this service generated.
        """
        own = self.card
        if card == own:
            return own
        if card.uid and own.uid and uid_key(card.uid) == uid_key(own.uid):
            card = replace(card, uid=own.uid)
        elif card.uid and own.uid == uid_of(self.person.pk):
            own = replace(own, uid=None)
        return merge_cards(own, card, overwrite=overwrite)

    @property
    def is_changed(self) -> bool:
        return self.is_new or self.card != self.card_before or self.picture is not None


def name_key(card: Card) -> bytes:
    """The key of a card's name. It is the sort key of people, because that column has an index."""
    return sort_key(NameParts(card.name, card.surname))


def person_sort_keys(card: Card) -> set[bytes]:
    """The sort keys that a person of this card may have: as written, with phonetic names, with what it is sorted as."""
    names, phonetic = NameParts(card.name, card.surname), (card.phonetic_name, card.phonetic_surname)
    given, family = sort_names(((line.text, bool(line.fields)) for line in card.lines), card.name, card.surname)
    spelled = (phonetic[0] or given, phonetic[1] or family)
    return {name_key(card), sort_key(names, phonetic), sort_key(names, spelled)}


def contact_keys(card: Card) -> list[ContactKey]:
    """The e-mail and phone keys of a card, as people.lookup stores them."""
    keys = {(LookupKey.EMAIL, email_key(str(entry["email"]))) for entry in card.emails}
    keys |= {(LookupKey.PHONE, key) for entry in card.phone_numbers for key in phone_keys(str(entry["number"]))}
    return sorted((kind, key) for kind, key in keys if key)


class DryRunState:
    """What the batches of a dry run would have written, so that later batches find it.

    `people` contains people by id, compressed, about 1 KB each: a dry run of a long file takes little more memory than
    the import. `added` is how many are new, `reminders` how many reminders would be set, and `group_keys` contains the
    keys of the groups that would be created. `awaited` is how many members of groups would be waited for.
    """

    def __init__(self) -> None:
        self.people: dict[UUID, bytes] = {}
        self.added = self.reminders = self.awaited = 0
        self.group_keys: set[str] = set()
        # Ids by the hash of a UID, or of a name and key. Hashes may collide: the batch compares the cards themselves.
        self._ids_by_hash: dict[int, tuple[UUID, ...]] = defaultdict(tuple)

    def remember(self, changed: Iterable[PersonMatch]) -> None:
        """Remember people as a batch would have left them."""
        for match in changed:
            key, name = match.person.pk, name_key(match.card)
            if match.is_new and key not in self.people:
                self.added += 1
            hashes = match.picture and match.picture.hashes
            self.people[key] = zlib.compress(pickle.dumps((match.card, hashes, match.is_new)), 1)
            uids = {uid_key(uid) for uid in (match.card.uid, None if match.is_new else uid_of(key)) if uid}
            for lookup_key in (*uids, (name, None), *((name, shared) for shared in contact_keys(match.card))):
                ids = self._ids_by_hash[hash(lookup_key)]
                if key not in ids and len(ids) < _MAX_PER_KEY:
                    self._ids_by_hash[hash(lookup_key)] = (*ids, key)

    def has_uid(self, key: str) -> bool:
        """Whether somebody would have the UID with this key."""
        return hash(key) in self._ids_by_hash

    def find(self, items: Collection[Item]) -> dict[UUID, PersonMatch]:
        """Return the people that these cards may mean, by id. Of those that are not new, `person` has only an id."""
        lookup_keys: set[Any] = set()
        for item in items:
            lookup_keys.update((uid_key(item.card.uid),) if item.card.uid else ())
            keys: list[ContactKey | None] = [*item.contact_keys]
            lookup_keys.update((item.name_key, shared) for shared in keys or [None])
        ids = {key for lookup_key in lookup_keys for key in self._ids_by_hash.get(hash(lookup_key), ())}
        return {key: self._decompress(key) for key in sorted(ids)}

    def _decompress(self, key: UUID) -> PersonMatch:
        card, hashes, is_new = pickle.loads(zlib.decompress(self.people[key]))  # noqa: S301 - compressed by `remember`
        picture = ConvertedPhoto(b"", hashes) if hashes else None
        return PersonMatch(Person(pk=key), card, card, picture=picture, is_new=is_new)


class Candidates:
    """The candidates of one batch. `seen` contains the UIDs of earlier batches, `met` those of this one."""

    def __init__(self, owner: User, seen: Collection[str], dry_run: DryRunState | None) -> None:
        self.owner, self.seen, self.dry_run = owner, seen, dry_run
        self.met: set[str] = set()
        self.matches: list[PersonMatch] = []
        self._by_uid: dict[str, list[PersonMatch]] = defaultdict(list)
        self._by_name: dict[tuple[bytes, ContactKey | None], list[PersonMatch]] = defaultdict(list)

    def load(self, items: Collection[Item]) -> None:
        """Read the people that these cards may mean; in a dry run also what earlier batches would have written."""
        people = self._load_stored(items)
        remembered = self.dry_run.find(items) if self.dry_run else {}
        if self.dry_run:
            # A person that somebody else has deleted since the earlier batch is no candidate any more.
            changed = Person.objects.owned_by(self.owner).active().in_bulk(remembered)
            remembered = {key: match for key, match in remembered.items() if match.is_new or key in changed}
            for key, person in changed.items():
                remembered[key].person = person
            people = {key: person for key, person in people.items() if key not in self.dry_run.people}
        for contact in local_contacts_of(self.owner, [people[key] for key in sorted(people)]).values():
            self.add(PersonMatch(contact.person, contact.card, contact.card, rows=contact.dates))
        for match in remembered.values():
            self.add(match)

    def add(self, match: PersonMatch) -> None:
        self.matches.append(match)
        self.index(match)

    def index(self, match: PersonMatch) -> None:
        """Index a person by its UIDs, by its name, and by its name with each contact key."""
        for uid in {uid_key(uid) for uid in (match.card.uid, uid_of(match.person.pk)) if uid}:
            _add_to_bucket(self._by_uid[uid], match)
        name = name_key(match.card)
        for key in (None, *contact_keys(match.card)):
            _add_to_bucket(self._by_name[name, key], match)

    def find_by_uid(self, item: Item) -> tuple[PersonMatch | None, bool]:
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
            found.sort(key=lambda match: name_key(match.card) != item.name_key)
            del found[_MAX_NAMESAKES:]
        is_first = key not in self.seen and key not in self.met
        self.met.add(key)
        for match in found:
            if match.merged_with(card) == match.card:
                return match, is_first
        return (found[0], True) if found and is_first else (None, False)

    def find_by_name(self, item: Item) -> PersonMatch | None:
        """Return a namesake that the card does not contradict, if they share a contact key or the card adds nothing."""
        # A card without e-mail address and number matches by name alone, and only if it adds nothing.
        keys: list[ContactKey | None] = [*item.contact_keys]
        for key in keys or [None]:
            for match in self._by_name.get((item.name_key, key), [])[:_MAX_NAMESAKES]:
                merged = match.merged_with(item.card)
                if merged and (key or merged == match.card):
                    return match
        return None

    def _load_stored(self, items: Collection[Item]) -> dict[UUID, Person]:
        """Read the active people that have a UID, or a name and a contact key, of these cards."""
        uids = {spelling for item in items if item.card.uid for spelling in uid_spellings(item.card.uid)}
        names = {item.name_key for item in items}
        keys = {key for item in items for _, key in item.contact_keys}
        keyless = {key for item in items if not item.contact_keys for key in person_sort_keys(item.card)}
        active = Person.objects.owned_by(self.owner).active()
        # Two index scans instead of a join: without fresh statistics PostgreSQL would read every person for the join.
        rows = LookupKey.objects.filter(owner=self.owner, kind__in=(LookupKey.EMAIL, LookupKey.PHONE), key__in=keys)
        shared = set(rows.values_list("person_id", flat=True)[: 10 * _MAX_CANDIDATES])
        people: dict[UUID, Person] = {}
        exported = {person_id for item in items if (person_id := parse_id(uid_key(item.card.uid or "")))}
        by_uid = (active.filter(uid__in=uids), active.filter(pk__in=exported)) if uids else ()
        for found in by_uid:
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        # People found by UID are not read again. The sort key of a person with a phonetic name, or whose card says what
        # it is sorted as, is made from that, so such people cannot be found by the written name and are all compared.
        spelled = Q(phonetic_name__isnull=False) | Q(phonetic_surname__isnull=False) | Q(kept__icontains="SORT-")
        candidates = active.alias(kept=Cast("card_lines", TextField()))
        namesakes = candidates.filter(Q(sort_key__in=names) | spelled, pk__in=shared - people.keys())
        nameless = active.filter(sort_key__in=keyless).exclude(pk__in=people)
        for found in (namesakes, nameless):
            people |= {person.pk: person for person in found.order_by("id")[:_MAX_CANDIDATES]}
        return people


def _add_to_bucket(bucket: list[PersonMatch], match: PersonMatch) -> None:
    if len(bucket) <= _MAX_CANDIDATES and match not in bucket:
        bucket.append(match)
