"""Finds likely duplicates of one account in a constant number of queries, however many people it has."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Q

from accounts.models import User
from contacts_project.kernel.api.columns import DateText, RawColumn
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import format_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.duplicates.candidates import Blocks
from people.duplicates.groups import Match, group_matches
from people.duplicates.keys import fine_blocks, name_blocks
from people.duplicates.similarity import THRESHOLD, Birthday, Identity, identity, may_reach, similarity
from people.duplicates.tokens import initial_class
from people.duplicates.word_similarity import clear_word_caches
from people.models import DuplicateDismissal, ImportantDate, LookupKey, Person
from people.models.important_date import YEAR_UNKNOWN
from people.names import COLUMNS, NameParts, display_name

BIRTHDAY = "BIRTHDAY"
MOST_CANDIDATE_ROWS = 5_000
_CONTACTS = (LookupKey.EMAIL, LookupKey.PHONE)
_KINDS = (*_CONTACTS, LookupKey.NAME, LookupKey.BLOCK)

Keys = dict[Any, dict[int, set[str]]]
"""E-mail and phone keys by person and kind."""


class NamedPerson(NamedTuple):
    """A person as the answers of duplicates show it."""

    id: str
    name: str


class FoundGroup(NamedTuple):
    similarity: float
    people: list[NamedPerson]


class FoundDuplicate(NamedTuple):
    similarity: float
    person: NamedPerson


def find_groups(owner: User) -> list[FoundGroup]:
    """All groups of likely duplicates, dismissed pairs left out. Four queries; near-linear in people."""
    rows = Person.objects.owned_by(owner).active().order_by("created_at", "id").values_list(IdHex("id"), *COLUMNS)
    people = [(key, NameParts(*parts)) for key, *parts in rows]
    numbers = {key: number for number, (key, _) in enumerate(people)}
    contacts, birthdays = _shared_contacts(owner), _birthdays(owner)
    identities = [_identity(parts, contacts.get(key), birthdays.get(key)) for key, parts in people]
    blocks = _blocks([parts for _, parts in people], identities)
    dismissed = {
        (min(pair), max(pair))
        for first, second in _dismissed(owner.pk)
        if len(pair := {numbers.get(first, -1), numbers.get(second, -1)} - {-1}) == 2
    }
    matches = [
        Match(score, *pair)
        for pair in blocks.pairs(_orders(identities))
        if may_reach(one := identities[pair[0]], other := identities[pair[1]])
        and pair not in dismissed
        and (score := similarity(one, other)) >= THRESHOLD
    ]
    clear_word_caches()
    return [
        FoundGroup(group.similarity, [_named(owner, *people[number]) for number in group.members])
        for group in group_matches(matches)
    ]


def find_duplicates(owner: User, person: Person) -> list[FoundDuplicate]:
    """Likely duplicates of one active person, most similar first, then in creation order. Six queries at most."""
    mine = _KEYS.rows(person_id=person.pk)
    born = _birthdays_of(owner, [person.pk]).get(person.pk.hex)
    found, contacts = _sharing(owner, person, mine)
    found |= _born_alike(owner, born)
    for pair in _DISMISSED_OF_ONE.rows(owner_id=owner.pk, person_id=person.pk):
        for key in pair:
            found.pop(key, None)
    found.pop(person.pk.hex, None)
    own = _identity(NameParts(*(getattr(person, column) for column in COLUMNS)), _by_kind(mine), born)
    # With the same birthday they are as similar as they can be: that of the others need not be read.
    likely = {
        key: known
        for key, (_, parts) in found.items()
        if similarity(own, known := _identity(parts, contacts.get(key), born)) >= THRESHOLD
    }
    birthdays = _birthdays_of(owner, [UUID(key) for key in likely]) if born else {}
    scored = [
        (similarity(own, replace(known, birthday=birthdays.get(key))), *found[key], key)
        for key, known in likely.items()
    ]
    scored.sort(key=lambda match: (-match[0], match[1], match[3]))
    return [FoundDuplicate(score, _named(owner, key, parts)) for score, _, parts, key in scored if score >= THRESHOLD]


def _identity(parts: NameParts, contacts: dict[int, set[str]] | None, birthday: Birthday | None) -> Identity:
    contacts = contacts or {}
    return identity(
        parts,
        emails=frozenset(contacts.get(LookupKey.EMAIL, ())),
        phones=frozenset(contacts.get(LookupKey.PHONE, ())),
        birthday=birthday,
    )


def _named(owner: User, key: str, parts: NameParts) -> NamedPerson:
    return NamedPerson(format_id(key), display_name(parts, order=owner.name_order, form=owner.name_display_format))


def _blocks(names: list[NameParts], identities: list[Identity]) -> Blocks:
    blocks = Blocks()
    initials = [parts for parts, known in zip(names, identities, strict=True) if known.name.has_initial]
    with_initials = {block for parts in initials for block in name_blocks(parts)}
    for number, (parts, known) in enumerate(zip(names, identities, strict=True)):
        blocks.extend(fine_blocks(parts), number)
        if with_initials:
            blocks.extend(with_initials & name_blocks(parts), number)
        blocks.extend((("email", key) for key in known.emails), number)
        blocks.extend((("phone", key) for key in known.phones), number)
        if len(known.name.all_words) > 2:
            blocks.add(known.name.all_words, number)
        if known.birthday:
            born = known.birthday.date
            blocks.add((born.month, born.day, initial_class(known.name.given)), number)
    return blocks


def _orders(identities: list[Identity]) -> list[list[Any]]:
    """The orders in which the people of a large block stand beside those of like names; equal names by birthday."""
    given = [(known.name.given, known.name.joined_family, *_day(known.birthday)) for known in identities]
    family = [(known.name.joined_family, known.name.given, *_day(known.birthday)) for known in identities]
    return [given, family]


def _day(birthday: Birthday | None) -> tuple[int, int]:
    return (birthday.date.month, birthday.date.day) if birthday else (0, 0)


def _shared_contacts(owner: User) -> Keys:
    """The e-mail and phone keys that more than one person has."""
    keys = LookupKey.objects.filter(owner=owner, kind__in=_CONTACTS)
    shared = keys.values("kind", "key").annotate(count=Count("id")).filter(count__gt=1).values("key")
    rows = keys.filter(key__in=shared).values_list(IdHex("person_id"), "kind", "key")
    contacts: Keys = defaultdict(lambda: defaultdict(set))
    for person, kind, key in rows:
        contacts[person][kind].add(key)
    return contacts


def _by_kind(rows: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
    kinds: dict[int, set[str]] = defaultdict(set)
    for kind, key in rows:
        kinds[kind].add(key)
    return kinds


def _birthday_rows(owner_id: UUID) -> Any:
    rows = ImportantDate.objects.owned_by(owner_id).active().filter(type=BIRTHDAY)
    return rows.values_list(IdHex("person_id"), DateText("date"), RawColumn("year_unknown"))


def _birthdays(owner: User) -> dict[str, Birthday]:
    return _by_person(_birthday_rows(owner.pk))


def _birthdays_of(owner: User, people: Sequence[UUID]) -> dict[str, Birthday]:
    return _by_person(_BIRTHDAYS_OF.rows(owner_id=owner.pk, person_ids=people))


_BIRTHDAYS_OF = CompiledQuery(lambda owner_id, person_ids: _birthday_rows(owner_id).filter(person__in=person_ids))


def _by_person(rows: Iterable[Any]) -> dict[str, Birthday]:
    return {key: Birthday(dt.date.fromisoformat(date), bool(year_unknown)) for key, date, year_unknown in rows}


def _dismissed(owner_id: UUID) -> Any:
    """The pairs that are two people."""
    return DuplicateDismissal.objects.owned_by(owner_id).values_list(IdHex("first_id"), IdHex("second_id"))


_DISMISSED_OF_ONE = CompiledQuery(
    lambda owner_id, person_id: _dismissed(owner_id).filter(Q(first=person_id) | Q(second=person_id))
)
_KEYS = CompiledQuery(
    lambda person_id: LookupKey.objects.filter(person=person_id, kind__in=_KINDS).values_list("kind", "key")
)

Candidates = dict[str, tuple[Any, NameParts]]
"""When each was created, as the driver says it, and the name, by IdHex."""
_CANDIDATE: tuple[Any, ...] = (RawColumn("person__created_at"), *(f"person__{column}" for column in COLUMNS))


# That a person is in the trash is read, not asked for: without statistics PostgreSQL takes the active people of an
# account for a handful, and looks at the keys of each.
_SHARING = CompiledQuery(
    lambda owner_id, person_id, keys: (
        LookupKey.objects.filter(owner=owner_id, kind__in=_KINDS, key__in=keys)
        .exclude(person=person_id)
        .order_by("kind", "key", "person")
        .values_list(IdHex("person_id"), "kind", "key", RawColumn("person__deleted_at"), *_CANDIDATE)[
            :MOST_CANDIDATE_ROWS
        ]
    )
)


def _sharing(owner: User, person: Person, mine: list[tuple[int, str]]) -> tuple[Candidates, Keys]:
    """The active people who share a key, and which e-mails and phones they share. Contacts come before names."""
    keys = sorted({key for _, key in mine})
    found: Candidates = {}
    contacts: Keys = defaultdict(lambda: defaultdict(set))
    rows = _SHARING.rows(owner_id=owner.pk, person_id=person.pk, keys=keys)
    for key, kind, text, deleted_at, created_at, *parts in rows:
        if deleted_at is None:
            found[key] = (created_at, NameParts(*parts))
            contacts[key][kind].add(text)
    return found, contacts


def _born_alike(owner: User, born: Birthday | None) -> Candidates:
    """The active people whose birthday agrees: the same day, or the same day of the year where a year is unknown.

    Where both years are known and differ, the birthdays count as different, which no name alone makes up for.
    """
    if born is None:
        return {}
    rows = ImportantDate.objects.owned_by(owner).active().filter(type=BIRTHDAY, person__deleted_at=None)
    rows = rows.filter(month_day=born.date.month * 100 + born.date.day)
    if not born.year_unknown:
        rows = rows.filter(date__in=[born.date, born.date.replace(year=YEAR_UNKNOWN)])
    found = rows.values_list(IdHex("person_id"), *_CANDIDATE)
    return {key: (created_at, NameParts(*parts)) for key, created_at, *parts in found}
