"""The duplicates of one person are those that comparing all people finds, among those who share a key or a birthday."""

import datetime as dt
import random

import pytest

from accounts.models import User
from people.duplicates.finder import find_duplicates
from people.duplicates.keys import email_key
from people.duplicates.similarity import THRESHOLD, Birthday, Identity, build_identity, similarity
from people.lookup import keys_of
from people.models import ImportantDate, Person
from people.names import COLUMNS, NameParts
from tests.builders import make_keys, make_person

GIVEN = ("Ada", "Adda", "Veronika", "Veronkia", "Bob", "Robert", "A.")
FAMILY = (None, "Lovelace", "Lovlaec", "Hartmann", "Hartamnn")
BORN = (
    Birthday(dt.date(1815, 12, 10)),
    Birthday(dt.date(1816, 12, 10)),
    Birthday(dt.date(1604, 12, 10), True),
    Birthday(dt.date(1604, 2, 29), True),
    Birthday(dt.date(1996, 2, 29)),
    None,
)


def make_crowd(owner: User, rng: random.Random, size: int) -> dict[Person, Birthday | None]:
    crowd: dict[Person, Birthday | None] = {}
    for _ in range(size):
        emails = [{"id": "e", "type": "home", "email": f"{rng.choice('abc')}@x.org"}] if rng.random() < 0.2 else []
        nickname = "Bob" if rng.random() < 0.1 else None
        person = make_person(
            owner, name=rng.choice(GIVEN), surname=rng.choice(FAMILY), nickname=nickname, emails=emails
        )
        crowd[person] = born = rng.choice(BORN)
        if born:
            ImportantDate.objects.create(
                owner=owner, person=person, type="BIRTHDAY", date=born.date, year_unknown=born.year_unknown
            )
    make_keys(owner, crowd)
    return crowd


def identify(person: Person, birthday: Birthday | None) -> Identity:
    parts = NameParts(*(getattr(person, column) for column in COLUMNS))
    emails = frozenset(filter(None, (email_key(entry["email"]) for entry in person.emails)))
    return build_identity(parts, emails=emails, birthday=birthday)


def find_all_duplicates_slowly(crowd: dict[Person, Birthday | None]) -> dict[Person, list[tuple[float, str]]]:
    identities = {person: identify(person, birthday) for person, birthday in crowd.items()}
    keys = {person: keys_of(person.__dict__) for person in crowd}

    def is_candidate(person: Person, other: Person) -> bool:
        mine, theirs = crowd[person], crowd[other]
        is_born_alike = mine and theirs and (mine.date.month, mine.date.day) == (theirs.date.month, theirs.date.day)
        return other != person and bool(is_born_alike or keys[person] & keys[other])

    return {
        person: in_order(
            [
                (similarity(identities[person], identities[other]), other)
                for other in crowd
                if is_candidate(person, other)
            ]
        )
        for person in crowd
    }


def in_order(scored: list[tuple[float, Person]]) -> list[tuple[float, str]]:
    """Those that are similar enough, the most similar first, then the oldest."""
    found = [(score, other) for score, other in scored if score >= THRESHOLD]
    return [(score, str(other.pk)) for score, other in sorted(found, key=lambda m: (-m[0], m[1].created_at, m[1].pk))]


@pytest.mark.split
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_duplicates_of_one_are_those_of_comparing_with_everybody(alice: User, seed: int) -> None:
    crowd = make_crowd(alice, random.Random(seed), 60)
    found = {
        person: [(match.similarity, match.person.id) for match in find_duplicates(alice, person)] for person in crowd
    }
    assert found == find_all_duplicates_slowly(crowd)
    assert any(found.values())
