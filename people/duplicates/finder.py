"""Finds the likely duplicates in one account, in a constant number of queries.

Candidates are people who share a blocking key; the number of pairs grows nearly linearly with the people. A block holds
the people of one key. In a small block all pairs are candidates. A large block (everybody called Smith) uses the sorted
neighbourhood method: it is sorted by given name and by family name, and each person is paired with the next `WINDOW`
people of either order. So a block of n people yields at most `2 * WINDOW * n` pairs. The matches among them are joined,
from the most similar down, to groups.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.db.models import Count, Q

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows
from contacts_project.kernel.database.expressions import DateText, IdHex, RawColumn
from contacts_project.kernel.ids import format_id
from people.duplicates.keys import name_blocks, narrow_name_blocks
from people.duplicates.name_words import clear_word_caches, initial_class
from people.duplicates.similarity import THRESHOLD, Birthday, Identity, build_identity, may_reach_threshold, similarity
from people.mentions import COLUMNS as MENTION_COLUMNS
from people.mentions import Topic, may_be_mentioned, silence
from people.models import DuplicateDismissal, ImportantDate, LookupKey, Person
from people.models.dates import YEAR_UNKNOWN
from people.names import COLUMNS, NameParts, format_name

BIRTHDAY = "BIRTHDAY"
MAX_CANDIDATE_ROWS = 5_000
_CONTACTS = (LookupKey.EMAIL, LookupKey.PHONE)
_KINDS = (*_CONTACTS, LookupKey.NAME, LookupKey.BLOCK)
WINDOW = 7
# Up to this size, all pairs are no more than the windows of two orders would yield.
MAX_EXHAUSTIVE_BLOCK = 2 * WINDOW + 1
MAX_GROUP_SIZE = 50


ContactKeys = dict[Any, dict[int, set[str]]]
"""E-mail and phone keys by the person's IdHex and by kind."""
SortKey: TypeAlias = tuple[str | int, ...] | str


class Blocks:
    """People, identified by their number, by blocking key."""

    def __init__(self) -> None:
        self._members: dict[Hashable, list[int]] = defaultdict(list)

    def add(self, key: Hashable, number: int) -> None:
        self._members[key].append(number)

    def extend(self, keys: Iterable[Hashable], number: int) -> None:
        for key in keys:
            self._members[key].append(number)

    def pairs(self, sort_keys: Sequence[Sequence[SortKey]]) -> Iterator[tuple[int, int]]:
        """Every candidate pair once, the smaller number first. `sort_keys`: for each order, the key by number."""
        # A pair is encoded as one integer: there may be a million pairs, and tuples take twice the memory.
        seen: set[int] = set()
        size = 1 + max((max(members) for members in self._members.values()), default=0)
        for members in self._members.values():
            if len(members) < 2:
                continue
            is_small = len(members) <= MAX_EXHAUSTIVE_BLOCK
            pairs = combinations(members, 2) if is_small else _pairs_in_window(members, sort_keys)
            for one, other in pairs:
                code = one * size + other
                if code not in seen:
                    seen.add(code)
                    yield one, other


def _pairs_in_window(members: list[int], sort_keys: Sequence[Sequence[SortKey]]) -> Iterator[tuple[int, int]]:
    for keys in sort_keys:
        ordered = sorted(members, key=lambda number: (keys[number], number))
        for position, number in enumerate(ordered):
            for other in ordered[position + 1 : position + 1 + WINDOW]:
                yield (number, other) if number < other else (other, number)


class PersonLabel(NamedTuple):
    """A person in a response."""

    id: str
    name: str


class FoundGroup(NamedTuple):
    similarity: float
    people: list[PersonLabel]


class FoundDuplicate(NamedTuple):
    similarity: float
    person: PersonLabel


def find_groups(owner: User) -> list[FoundGroup]:
    """All groups of likely duplicates, without dismissed pairs and quiet people.

    Nearly linear in the number of people.
    """
    mentioned = Person.objects.owned_by(owner).active().filter(may_be_mentioned())
    rows = mentioned.order_by("created_at", "id").values_list(IdHex("id"), *COLUMNS)
    people = [(key, NameParts(*parts)) for key, *parts in rows]
    numbers = {key: number for number, (key, _) in enumerate(people)}
    contacts, birthdays = _load_shared_contacts(owner), _birthdays_by_person(_birthday_rows(owner.pk))
    identities = [_build_identity(parts, contacts.get(key), birthdays.get(key)) for key, parts in people]
    blocks = _build_blocks([parts for _, parts in people], identities)
    # Pairs with a person in the trash, or a quiet one, are dropped: that person has no number.
    dismissed = {
        (min(pair), max(pair))
        for first, second in _dismissed_pairs(owner.pk)
        if len(pair := {numbers.get(first, -1), numbers.get(second, -1)} - {-1}) == 2
    }
    # The cheapest test first: most candidates fail it.
    matches = [
        Match(score, *pair)
        for pair in blocks.pairs(_build_sort_keys(identities))
        if may_reach_threshold(one := identities[pair[0]], other := identities[pair[1]])
        and pair not in dismissed
        and (score := similarity(one, other)) >= THRESHOLD
    ]
    clear_word_caches()
    return [
        FoundGroup(group.similarity, [_label_person(owner, *people[number]) for number in group.members])
        for group in group_matches(matches)
    ]


def find_duplicates(owner: User, person: Person) -> list[FoundDuplicate]:
    """Likely duplicates of one active person, most similar first, then in creation order.

    A quiet person has none, and is none.
    """
    if person.silence(Topic.PERSON):
        return []
    rows = list(LookupKey.objects.filter(person=person, kind__in=_KINDS).values_list("kind", "key"))
    birthday = _load_birthdays_of(owner, [person.pk]).get(person.pk.hex)
    candidates, contacts = _load_candidates_by_key(owner, person, rows)
    candidates |= _load_candidates_by_birthday(owner, birthday)
    for pair in _dismissed_pairs(owner.pk).filter(Q(first=person) | Q(second=person)):
        for key in pair:
            candidates.pop(key, None)
    candidates.pop(person.pk.hex, None)
    own_keys: dict[int, set[str]] = defaultdict(set)
    for kind, text in rows:
        own_keys[kind].add(text)
    own = _build_identity(person.name_parts, own_keys, birthday)
    # The same birthday gives the highest possible score. Only for people who reach the threshold with it are birthdays
    # loaded.
    likely = {
        key: other
        for key, candidate in candidates.items()
        if similarity(own, other := _build_identity(candidate.name, contacts.get(key), birthday)) >= THRESHOLD
    }
    birthdays = _load_birthdays_of(owner, [UUID(key) for key in likely]) if birthday else {}
    scored = [
        (similarity(own, replace(other, birthday=birthdays.get(key))), candidates[key], key)
        for key, other in likely.items()
    ]
    scored.sort(key=lambda match: (-match[0], match[1].created_at, match[2]))
    return [
        FoundDuplicate(score, _label_person(owner, key, candidate.name))
        for score, candidate, key in scored
        if score >= THRESHOLD
    ]


def _build_identity(parts: NameParts, contacts: dict[int, set[str]] | None, birthday: Birthday | None) -> Identity:
    contacts = contacts or {}
    return build_identity(
        parts,
        emails=frozenset(contacts.get(LookupKey.EMAIL, ())),
        phones=frozenset(contacts.get(LookupKey.PHONE, ())),
        birthday=birthday,
    )


def _label_person(owner: User, key: str, parts: NameParts) -> PersonLabel:
    return PersonLabel(format_id(key), format_name(owner, parts))


def _build_blocks(names: list[NameParts], identities: list[Identity]) -> Blocks:
    blocks = Blocks()
    # A name with an initial is in no narrow block, so its wide blocks are added. All wide blocks would make too many
    # pairs.
    names_with_initial = [parts for parts, one in zip(names, identities, strict=True) if one.name.has_initial]
    initial_blocks = {block for parts in names_with_initial for block in name_blocks(parts)}
    for number, (parts, one) in enumerate(zip(names, identities, strict=True)):
        blocks.extend(narrow_name_blocks(parts), number)
        if initial_blocks:
            blocks.extend(initial_blocks & name_blocks(parts), number)
        blocks.extend((("email", key) for key in one.emails), number)
        blocks.extend((("phone", key) for key in one.phones), number)
        if len(one.name.all_words) > 2:
            blocks.add(one.name.all_words, number)
        if one.birthday:
            date = one.birthday.date
            blocks.add((date.month, date.day, initial_class(one.name.given)), number)
    return blocks


def _build_sort_keys(identities: list[Identity]) -> Sequence[Sequence[SortKey]]:
    """Two sort keys for large blocks, which put similar names next to each other, and equal names by birthday."""
    by_given = [(one.name.given, one.name.joined_family, *_month_and_day(one.birthday)) for one in identities]
    by_family = [(one.name.joined_family, one.name.given, *_month_and_day(one.birthday)) for one in identities]
    return [by_given, by_family]


def _month_and_day(birthday: Birthday | None) -> tuple[int, int]:
    return (birthday.date.month, birthday.date.day) if birthday else (0, 0)


def _load_shared_contacts(owner: User) -> ContactKeys:
    """The e-mail and phone keys that more than one person has. Keys of one person alone cannot match."""
    keys = LookupKey.objects.filter(owner=owner, kind__in=_CONTACTS)
    shared = keys.values("kind", "key").annotate(count=Count("id")).filter(count__gt=1).values("key")
    rows = keys.filter(key__in=shared).values_list(IdHex("person_id"), "kind", "key")
    contacts: ContactKeys = defaultdict(lambda: defaultdict(set))
    for person, kind, key in rows:
        contacts[person][kind].add(key)
    return contacts


def _birthday_rows(owner_id: UUID) -> Rows:
    rows = ImportantDate.objects.owned_by(owner_id).active().filter(type=BIRTHDAY)
    return rows.values_list(IdHex("person_id"), DateText("date"), RawColumn("year_unknown"))


def _load_birthdays_of(owner: User, people: Sequence[UUID]) -> dict[str, Birthday]:
    return _birthdays_by_person(_birthday_rows(owner.pk).filter(person__in=people))


def _birthdays_by_person(rows: Iterable[tuple[str, str, bool | int]]) -> dict[str, Birthday]:
    return {key: Birthday(dt.date.fromisoformat(date), bool(year_unknown)) for key, date, year_unknown in rows}


def _dismissed_pairs(owner_id: UUID) -> Rows:
    """The pairs that the user has marked as two different people."""
    return DuplicateDismissal.objects.owned_by(owner_id).values_list(IdHex("first_id"), IdHex("second_id"))


class Candidate(NamedTuple):
    created_at: Any  # as the database driver returns it; used for sorting only
    name: NameParts


Candidates = dict[str, Candidate]
"""By the person's IdHex."""
_CANDIDATE_COLUMNS: tuple[Any, ...] = (RawColumn("person__created_at"), *(f"person__{column}" for column in COLUMNS))


_CANDIDATE_STATE: tuple[Any, ...] = (
    RawColumn("person__deleted_at"),
    *(f"person__{column}" for column in MENTION_COLUMNS),
)


# People in the trash and quiet people are filtered in Python, not in SQL: without statistics PostgreSQL estimates that
# an account has only a few active people, and then chooses a plan that scans the keys of each.


def _load_candidates_by_key(
    owner: User, person: Person, own_keys: list[tuple[int, str]]
) -> tuple[Candidates, ContactKeys]:
    """The active people who share a key with `person`, and the e-mails and phones that each of them shares.

    Of more than MAX_CANDIDATE_ROWS rows, e-mails and phones come first: they are the stronger evidence.
    """
    candidates: Candidates = {}
    contacts: ContactKeys = defaultdict(lambda: defaultdict(set))
    others = LookupKey.objects.filter(owner=owner, kind__in=_KINDS, key__in={key for _, key in own_keys})
    rows = (
        others.exclude(person=person)
        .order_by("kind", "key", "person")
        .values_list(IdHex("person_id"), "kind", "key", *_CANDIDATE_STATE, *_CANDIDATE_COLUMNS)[:MAX_CANDIDATE_ROWS]
    )
    for key, kind, text, deleted_at, quiet, deathday, is_me, created_at, *parts in rows:
        if deleted_at is None and not silence(Topic.PERSON, quiet=quiet, deathday=deathday, is_me=is_me):
            candidates[key] = Candidate(created_at, NameParts(*parts))
            contacts[key][kind].add(text)
    return candidates, contacts


def _load_candidates_by_birthday(owner: User, birthday: Birthday | None) -> Candidates:
    """The active people with the same birthday, or the same day of the year where a year is unknown.

    Two known years that differ make different birthdays, for which no equality of names can compensate.
    """
    if birthday is None:
        return {}
    rows = ImportantDate.objects.owned_by(owner).active().filter(type=BIRTHDAY, person__deleted_at=None)
    rows = rows.filter(may_be_mentioned(path="person__"), month_day=birthday.date.month * 100 + birthday.date.day)
    if not birthday.year_unknown:
        rows = rows.filter(date__in=[birthday.date, birthday.date.replace(year=YEAR_UNKNOWN)])
    found = rows.values_list(IdHex("person_id"), *_CANDIDATE_COLUMNS)
    return {key: Candidate(created_at, NameParts(*parts)) for key, created_at, *parts in found}


class Match(NamedTuple):
    """Two people, by their numbers in creation order, and their similarity."""

    similarity: float
    one: int
    other: int


class DuplicateGroup(NamedTuple):
    """People in creation order; `similarity` is that of the most similar pair in the group."""

    similarity: float
    members: list[int]


def group_matches(matches: Iterable[Match], *, max_size: int = MAX_GROUP_SIZE) -> list[DuplicateGroup]:
    """Join matches, most similar first, into groups of at most `max_size` people; skip a match that would exceed it.

    Every group is connected by its own matches. Groups are sorted by descending similarity, then by first member.
    """
    sets = _DisjointSets(max_size)
    # The full sort key makes the groups independent of the order in which candidates were found.
    for match in sorted(matches, key=lambda match: (-match.similarity, match.one, match.other)):
        sets.union(match)
    return sorted(sets.groups(), key=lambda group: (-group.similarity, group.members))


class _DisjointSets:
    """Union-find, by size and with path halving, and with a maximum size of a set."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.parent: dict[int, int] = {}
        self.size: dict[int, int] = defaultdict(lambda: 1)
        self.similarity: dict[int, float] = {}

    def find(self, number: int) -> int:
        parent = self.parent.setdefault(number, number)
        while parent != number:
            self.parent[number] = self.parent[parent]
            number, parent = parent, self.parent[parent]
        return number

    def union(self, match: Match) -> None:
        one, other = self.find(match.one), self.find(match.other)
        if one == other or self.size[one] + self.size[other] > self.max_size:
            return
        if self.size[one] < self.size[other]:
            one, other = other, one
        self.parent[other] = one
        self.size[one] += self.size[other]
        best = max(self.similarity.get(one, 0.0), self.similarity.get(other, 0.0), match.similarity)
        self.similarity[one] = best

    def groups(self) -> list[DuplicateGroup]:
        members: dict[int, list[int]] = defaultdict(list)
        for number in self.parent:
            members[self.find(number)].append(number)
        return [
            DuplicateGroup(self.similarity[root], sorted(group)) for root, group in members.items() if len(group) > 1
        ]
