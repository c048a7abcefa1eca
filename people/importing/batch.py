"""One batch of a vCard import: which card is which person, and the few statements that write them all.

`plan` only reads; `write` runs under the account's lock, on a plan that was made there.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.ownership.account_lock import AccountWrite
from people.dates import schedule
from people.duplicates.keys import email_key, phone_key
from people.fields.cards import card_of, put_card
from people.importing.card_groups import GroupPlan
from people.importing.log import ImportLog, columns_of
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED, Outcome
from people.models import ImportantDate, LookupKey, Membership, Person
from people.models.person import uid_of
from people.names import NameParts, sort_key
from people.photos.files import delete_files, name_photo, photo_hash
from people.services.person_writer import PersonWriter
from people.services.plan_limits import count_reminders
from people.vcard import Card, CardResult
from people.vcard.merge import merge_cards

#: Namesakes without a key, or with the same one, that a card is compared with; a hostile file might have more.
_MAX_NAMESAKES = 100
_MAX_CANDIDATES = 500

#: The code of an outcome for which the plan has no room.
PLAN_LIMIT = "plan_limit"


#: Kind and key as LookupKey has them.
ContactKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo made ready outside the lock: what is stored, and the hashes by which it is known again."""

    jpeg: bytes
    hashes: frozenset[str]


@dataclass(slots=True)
class Item:
    """A card that was read, with its photo; `reasons` is what its outcome has to tell."""

    result: CardResult
    card: Card
    picture: Picture | None = None
    reasons: list[str] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)
    # By which it is looked for, computed once and outside the lock.
    name: bytes = b""
    keys: list[ContactKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or name_key(self.card)
        self.keys = self.keys or contact_keys(self.card)

    def outcome(self, status: str, person_id: UUID | None) -> Outcome:
        return Outcome(self.result.index, self.result.name, status, person_id, "; ".join(self.reasons) or None)


@dataclass(slots=True, eq=False)
class Known:
    """A person as the cards of a file meet it: `was` when it was read, `card` with what they add."""

    person: Person
    was: Card
    card: Card
    rows: list[ImportantDate] = field(default_factory=list)
    picture: Picture | None = None
    is_new: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Of a new person: what no card says."""

    def merged_with(self, card: Card, *, overwrite: bool = False) -> Card | None:
        """As merge_cards; a UID that was made here gives way to the card's, and contradicts none."""
        known = self.card
        if card == known:
            return known
        if card.uid and known.uid == uid_of(self.person.pk):
            known = replace(known, uid=None)
        return merge_cards(known, card, overwrite=overwrite)

    @property
    def is_changed(self) -> bool:
        return self.is_new or self.card != self.was or self.picture is not None


def name_key(card: Card) -> bytes:
    """Cards of one name have one key; the order of people goes by it, so there is an index."""
    return sort_key(NameParts(card.name, card.surname))


def place_of(card: Card) -> bytes:
    """The sort key of a person who says what the card does."""
    return sort_key(NameParts(card.name, card.surname), (card.phonetic_name, card.phonetic_surname))


def contact_keys(card: Card) -> list[ContactKey]:
    """The e-mail and phone keys by which people.lookup finds a person with one of the card's entries."""
    keys = {(LookupKey.EMAIL, email_key(str(entry["email"]))) for entry in card.emails}
    keys |= {(LookupKey.PHONE, phone_key(str(entry["number"]))) for entry in card.phone_numbers}
    return sorted((kind, key) for kind, key in keys if key)


def uid_spellings(uid: str) -> tuple[str, str]:
    """A UID as it stands, and with or without the `urn:uuid:` that programs add and drop."""
    bare = uid.removeprefix("urn:uuid:")
    return uid, bare if bare != uid else f"urn:uuid:{uid}"


def _put(bucket: list[Known], known: Known) -> None:
    if len(bucket) <= _MAX_CANDIDATES and known not in bucket:
        bucket.append(known)


class Rehearsal:
    """What the batches of a dry run would have written, which the later ones have to find."""

    def __init__(self) -> None:
        self.people: dict[UUID, Known] = {}
        self.by_uid: dict[str, list[Known]] = defaultdict(list)
        self.by_name: dict[tuple[bytes, ContactKey | None], list[Known]] = defaultdict(list)
        self.group_keys: set[str] = set()

    @property
    def added(self) -> int:
        return sum(known.is_new for known in self.people.values())


class Batch:
    """Cards against people. `seen` are the UIDs that earlier cards of the file had.

    `log` notes what is written, for its undoing; with a `rehearsal` nothing is.
    """

    def __init__(
        self,
        owner: User,
        items: list[Item],
        seen: frozenset[str],
        now: dt.datetime,
        *,
        log: ImportLog | None = None,
        rehearsal: Rehearsal | None = None,
    ) -> None:
        self.owner, self.items, self.now = owner, items, now
        self.seen = set(seen)
        self.log, self.rehearsal = log, rehearsal
        self.outcomes: list[Outcome] = []
        self.known: list[Known] = []
        memory = rehearsal or Rehearsal()
        self.by_uid, self.by_name = memory.by_uid, memory.by_name
        self.groups = GroupPlan(owner, memory.group_keys)

    def plan(self) -> None:
        """Find the person of each card, and what the card adds to it."""
        self._load()
        self.groups.load(name for item in self.items for name in item.card.categories)
        limit = self.owner.plan_limit("people")
        left = None if limit is None else limit - Person.objects.owned_by(self.owner).active().count()
        if left is not None and self.rehearsal:
            left -= self.rehearsal.added
        self._allow_reminders()
        for item in self.items:
            item.card = self.groups.allow(item.card, item.reasons)
            is_full = left is not None and sum(known.is_new for known in self.known) >= left
            self.outcomes.append(self._place(item, is_full=is_full))
        if self.rehearsal:
            self.rehearsal.people |= {known.person.pk: known for known in self.known if known.is_changed}
            new = (key for key, group in self.groups.groups.items() if group._state.adding)
            self.rehearsal.group_keys.update(new)

    def _allow_reminders(self) -> None:
        """Switch off the contact reminders for which the plan has no room."""
        reminding = [item for item in self.items if item.columns.get("contact_reminder_enabled")]
        limit = self.owner.plan_limit("reminders") if reminding else None
        if limit is None:
            return
        for item in reminding[max(0, limit - count_reminders(self.owner)) :]:
            item.columns = {**item.columns, "contact_reminder_enabled": False}
            item.reasons.append(f"your plan allows {limit} reminders: its contact reminder is off")

    @property
    def has_changes(self) -> bool:
        return any(known.is_changed for known in self.known)

    def write(self, write: AccountWrite) -> None:
        """Everything that the plan found, in a handful of statements."""
        writer = PersonWriter(self.owner, write, self.now)
        changed = [known for known in self.known if known.is_changed]
        former = self.log and {known.person.pk: columns_of(known.person) for known in changed if not known.is_new}
        new, moved = self._plan_dates(changed)
        if self.log:
            self.log.dates(new, moved)
        self._write_people(writer, changed)
        self._write_dates(writer, new, moved)
        joined = [(known.person, known.card.categories[len(known.was.categories) :]) for known in changed]
        made = self.groups.write(joined)
        if self.log:
            self.log.people([(known.person, known.is_new) for known in changed], former or {}, self.groups.of(joined))
            self.log.groups(made)
            self.log.flush(write)

    def _load(self) -> None:
        uids = {spelling for item in self.items if item.card.uid for spelling in uid_spellings(item.card.uid)}
        names = {item.name for item in self.items}
        keys = {key for item in self.items for _, key in item.keys}
        keyless = {key for item in self.items if not item.keys for key in (item.name, place_of(item.card))}
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
        dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
        for row in ImportantDate.objects.owned_by(self.owner).active().filter(person__in=people).order_by("id"):
            dates[row.person_id].append(row)
        groups: dict[UUID, list[str]] = defaultdict(list)
        memberships = Membership.objects.owned_by(self.owner).filter(person__in=people, group__deleted_at=None)
        for person_id, name in memberships.order_by("id").values_list("person_id", "group__name"):
            groups[person_id].append(name)
        for key in sorted(people):
            if self.rehearsal and key in self.rehearsal.people:
                continue
            card = card_of(people[key], dates[key], groups[key])
            self._add(Known(people[key], card, card, rows=dates[key]))

    def _add(self, known: Known) -> None:
        self.known.append(known)
        self._index(known)

    def _index(self, known: Known) -> None:
        """Make it findable by its UIDs, its name, and its name with each of its keys."""
        for uid in filter(None, {known.card.uid, uid_of(known.person.pk)}):
            _put(self.by_uid[uid], known)
        name = name_key(known.card)
        for key in (None, *contact_keys(known.card)):
            _put(self.by_name[name, key], known)

    def _place(self, item: Item, *, is_full: bool) -> Outcome:
        known, is_same = self._by_uid(item)
        known = known or self._by_name(item)
        if known is None and is_full:
            reason = f"your plan allows {self.owner.plan_limit('people')} people"
            return Outcome(item.result.index, item.result.name, ERROR, reason=reason, code=PLAN_LIMIT)
        if known is None:
            person = Person(owner=self.owner, created_at=self.now)
            self._add(Known(person, Card(), item.card, picture=item.picture, is_new=True, columns=item.columns))
            return item.outcome(IMPORTED, None if self.rehearsal else person.pk)
        person_id = None if self.rehearsal and known.is_new else known.person.pk
        before = (known.card, known.picture)
        known.card = known.merged_with(item.card, overwrite=is_same) or known.card
        if known.card != before[0]:
            self._index(known)
        self._take_picture(known, item, replace=is_same)
        if (known.card, known.picture) != before:
            return item.outcome(UPDATED, person_id)
        item.reasons.append("nothing new: this person is there already")
        return item.outcome(SKIPPED, person_id)

    def _by_uid(self, item: Item) -> tuple[Known | None, bool]:
        """The person with the card's UID, and whether the card's word counts for it.

        The first card of a file with some UID is that contact. Another one with the same UID is only the same when it
        says nothing new: two contacts that share a UID by mistake must not overwrite each other.
        """
        card = item.card
        if not card.uid:
            return None, False
        found = [known for uid in uid_spellings(card.uid) for known in self.by_uid.get(uid, ())]
        if len(found) > 1:
            # Programs copy cards with their UID: of several people the one of the same name is meant.
            found.sort(key=lambda known: name_key(known.card) != item.name)
        is_first = uid_spellings(card.uid)[0] not in self.seen
        self.seen.update(uid_spellings(card.uid))
        for known in found:
            if known.merged_with(card) == known.card:
                return known, is_first
        return (found[0], True) if found and is_first else (None, False)

    def _by_name(self, item: Item) -> Known | None:
        """A namesake whom the card does not contradict, and with whom it shares a key or to whom it adds nothing."""
        # Without an address or a number the name alone must do, and only where the card adds nothing.
        keys: list[ContactKey | None] = [*item.keys]
        for key in keys or [None]:
            for known in self.by_name.get((item.name, key), [])[:_MAX_NAMESAKES]:
                merged = known.merged_with(item.card)
                if merged and (key or merged == known.card):
                    return known
        return None

    def _take_picture(self, known: Known, item: Item, *, replace: bool) -> None:
        """The same contact's photo replaces the one there; a namesake's fills a gap."""
        stored = (
            known.picture.hashes if known.picture else {photo_hash(known.person.photo)} if known.person.photo else ()
        )
        if item.picture is None or item.picture.hashes.intersection(stored):
            return
        if replace or not stored:
            known.picture = item.picture
        else:
            item.reasons.append("its photo is another one and was left out")

    def _write_people(self, writer: PersonWriter, changed: list[Known]) -> None:
        for known in changed:
            person = known.person
            writer.edit(person)
            put_card(person, known.card, known.rows)
            for column, value in known.columns.items():
                setattr(person, column, value)
            if known.picture:
                delete_files([person.photo])
                person.photo = name_photo(owner_id=self.owner.pk, jpeg=known.picture.jpeg)
        writer.flush()

    def _plan_dates(self, changed: list[Known]) -> tuple[list[ImportantDate], list[ImportantDate]]:
        """The rows of what the cards say of important dates: new ones, and those that have another day now."""
        new: list[ImportantDate] = []
        moved: list[ImportantDate] = []
        for known in changed:
            for day in known.card.important_dates:
                if day in known.was.important_dates:
                    continue
                row = next((row for row in known.rows if day.type and row.type == day.type), None)
                if row is None:
                    row = ImportantDate(owner=self.owner, person=known.person, created_at=self.now, type=day.type)
                    known.rows.append(row)
                    new.append(row)
                else:
                    moved.append(row)
                row.title = day.title or row.title
                row.date, row.year_unknown, row.updated_at = day.date, day.year_unknown, self.now
        return new, moved

    def _write_dates(self, writer: PersonWriter, new: list[ImportantDate], moved: list[ImportantDate]) -> None:
        for row in moved:
            schedule.plan_date(row, writer.clock, self.now)
        ImportantDate.objects.bulk_create(new)
        ImportantDate.objects.owned_by(self.owner).bulk_update(
            moved, ["title", "date", "year_unknown", "updated_at", *schedule.DATE_COLUMNS], batch_size=50
        )
