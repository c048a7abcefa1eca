"""Finds likely duplicates of one account in a constant number of queries, however many people it has."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count

from accounts.models import User
from contacts_project.kernel.api.columns import IdText
from people.duplicates.candidates import Blocks
from people.duplicates.grouping import Match, group_matches
from people.duplicates.keys import fine_blocks, name_blocks
from people.duplicates.scoring import THRESHOLD, Birthday, Identity, identity, may_reach, similarity
from people.duplicates.tokens import initial_class
from people.models import DuplicateDismissal, ImportantDate, LookupKey, Person
from people.names import COLUMNS, NameParts, display_name

BIRTHDAY = "BIRTHDAY"
MOST_CANDIDATE_ROWS = 5_000
_CONTACTS = (LookupKey.EMAIL, LookupKey.PHONE)

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
    rows = Person.objects.owned_by(owner).active().order_by("created_at", "id").values_list(IdText("id"), *COLUMNS)
    people = [(key, NameParts(*parts)) for key, *parts in rows]
    numbers = {key: number for number, (key, _) in enumerate(people)}
    contacts, birthdays = _shared_contacts(owner), _birthdays(owner)
    identities = [_identity(parts, contacts.get(key), birthdays.get(key)) for key, parts in people]
    blocks = _blocks([parts for _, parts in people], identities)
    dismissed = {
        (min(pair), max(pair))
        for first, second in _dismissed(owner)
        if len(pair := {numbers.get(first, -1), numbers.get(second, -1)} - {-1}) == 2
    }
    matches = [
        Match(score, *pair)
        for pair in blocks.pairs(_orders(identities))
        if may_reach(one := identities[pair[0]], other := identities[pair[1]])
        and pair not in dismissed
        and (score := similarity(one, other)) >= THRESHOLD
    ]
    return [
        FoundGroup(group.similarity, [_named(owner, *people[number]) for number in group.members])
        for group in group_matches(matches)
    ]


def find_duplicates(owner: User, person: Person) -> list[FoundDuplicate]:
    """Likely duplicates of one active person, most similar first, then in creation order. Six queries at most."""
    mine = list(LookupKey.objects.filter(person=person).values_list("kind", "key"))
    born = _birthdays(owner, person.pk).get(str(person.pk))
    found, contacts = _sharing(owner, person, mine)
    found |= _born_alike(owner, born)
    for first, second in _dismissed(owner, person.pk):
        found.pop(first, None)
        found.pop(second, None)
    found.pop(str(person.pk), None)
    birthdays = _birthdays(owner, found.keys()) if born else {}
    own = _identity(NameParts(*(getattr(person, column) for column in COLUMNS)), _by_kind(mine), born)
    scored = (
        (similarity(own, _identity(parts, contacts.get(key), birthdays.get(key))), created_at, key, parts)
        for key, (created_at, parts) in found.items()
    )
    matches = sorted((match for match in scored if match[0] >= THRESHOLD), key=lambda match: (-match[0], *match[1:3]))
    return [FoundDuplicate(match[0], _named(owner, match[2], match[3])) for match in matches]


def _identity(parts: NameParts, contacts: dict[int, set[str]] | None, birthday: Birthday | None) -> Identity:
    contacts = contacts or {}
    return identity(
        parts,
        emails=frozenset(contacts.get(LookupKey.EMAIL, ())),
        phones=frozenset(contacts.get(LookupKey.PHONE, ())),
        birthday=birthday,
    )


def _named(owner: User, key: str, parts: NameParts) -> NamedPerson:
    return NamedPerson(key, display_name(parts, order=owner.name_order, form=owner.name_display_format))


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
    rows = keys.filter(key__in=shared).values_list(IdText("person_id"), "kind", "key")
    contacts: Keys = defaultdict(lambda: defaultdict(set))
    for person, kind, key in rows:
        contacts[person][kind].add(key)
    return contacts


def _by_kind(rows: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
    kinds: dict[int, set[str]] = defaultdict(set)
    for kind, key in rows:
        kinds[kind].add(key)
    return kinds


def _birthdays(owner: User, people: UUID | Collection[str] | None = None) -> dict[str, Birthday]:
    rows = ImportantDate.objects.owned_by(owner).active().filter(type=BIRTHDAY)
    if people is not None:
        rows = rows.filter(person=people) if isinstance(people, UUID) else rows.filter(person__in=list(people))
    found = rows.values_list(IdText("person_id"), "date", "year_unknown")
    return {key: Birthday(date, year_unknown) for key, date, year_unknown in found}


def _dismissed(owner: User, person_id: UUID | None = None) -> list[tuple[str, str]]:
    rows = DuplicateDismissal.objects.owned_by(owner)
    if person_id is not None:
        rows = rows.filter(first=person_id) | rows.filter(second=person_id)
    return list(rows.values_list(IdText("first_id"), IdText("second_id")))


Candidates = dict[str, tuple[dt.datetime, NameParts]]
_OF_PERSON = ("person__created_at", *(f"person__{column}" for column in COLUMNS))


def _sharing(owner: User, person: Person, mine: list[tuple[int, str]]) -> tuple[Candidates, Keys]:
    """The active people who share a key, and which e-mails and phones they share. Contacts come before names."""
    rows = LookupKey.objects.filter(
        owner=owner,
        kind__in={kind for kind, _ in mine},
        key__in={key for _, key in mine},
        person__deleted_at=None,
    ).exclude(person=person)
    ordered = rows.order_by("kind", "key", "person")[:MOST_CANDIDATE_ROWS]
    found: Candidates = {}
    contacts: Keys = defaultdict(lambda: defaultdict(set))
    for key, kind, text, created_at, *parts in ordered.values_list(IdText("person_id"), "kind", "key", *_OF_PERSON):
        found[key] = (created_at, NameParts(*parts))
        contacts[key][kind].add(text)
    return found, contacts


def _born_alike(owner: User, born: Birthday | None) -> Candidates:
    """The active people with a birthday on the same day of the year."""
    if born is None:
        return {}
    same_day = born.date.month * 100 + born.date.day
    rows = (
        ImportantDate.objects.owned_by(owner)
        .active()
        .filter(type=BIRTHDAY, person__deleted_at=None, month_day=same_day)
    )
    found = rows.values_list(IdText("person_id"), *_OF_PERSON)
    return {key: (created_at, NameParts(*parts)) for key, created_at, *parts in found}
