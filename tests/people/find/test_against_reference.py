"""GET /api/find against a slow reference that compares every active person word by word."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from rapidfuzz.distance import OSA

from accounts.models import User
from people.api.find import find_people
from people.find import CORRECTION_SCORES, SCORES, parse_query
from people.lookup import keys_of
from people.models import LookupKey, Person
from people.services.person_writer import set_name_keys
from tests.builders import make_keys

pytestmark = pytest.mark.django_db

NAMES = (
    "Ada",
    "Adam",
    "Anna",
    "Hannah",
    "Hopper",
    "Hoppner",
    "Harper",
    "Lovelace",
    "Loveless",
    "Christian",
    "Kristian",
)
OTHER_WORDS = ("harp", "harpist", "lute", "hopper", "love", "conference", "con", "ada")
QUERY_WORDS = (*NAMES, *OTHER_WORDS, "hpoper", "lovlace", "christain", "ha", "h", "lo", "conf", "nobody")

#: Active people, each with their look-up keys as (kind, key).
PeopleWithKeys = list[tuple[Person, list[tuple[int, str]]]]


def add_people(owner: User, rng: random.Random, number: int, in_trash: float) -> None:
    people = [
        Person(
            owner=owner,
            name=rng.choice(NAMES),
            surname=rng.choice(NAMES),
            organization=rng.choice(OTHER_WORDS) if rng.random() < 0.3 else None,
            notes=" ".join(rng.sample(OTHER_WORDS, 3)),
            deleted_at=timezone.now() if rng.random() < in_trash else None,
        )
        for _ in range(number)
    ]
    for person in people:
        set_name_keys(person)
    make_keys(owner, Person.objects.bulk_create(people))


def load_people_with_keys(owner: User) -> PeopleWithKeys:
    return [(person, list(keys_of(vars(person)))) for person in Person.objects.owned_by(owner).active()]


def find_slowly(people: PeopleWithKeys, query: str, limit: int) -> list[tuple[str, float]]:
    words = [term.word for term in parse_query(query)[-1]]
    found = []
    for person, keys in people:
        scores = [score for word in words if (score := max(score_word(keys, word), default=0))]
        if scores:
            found.append((-len(scores), -sum(scores), bytes(person.sort_key), str(person.pk)))
    best = [one for one in sorted(found) if one[0] == min(found)[0]][:limit]
    return [(key, round(-score / (100 * len(words)), 3)) for _, score, _, key in best]


def score_word(keys: list[tuple[int, str]], word: str) -> Iterator[int]:
    max_distance = 0 if len(word) < 4 else 2 if len(word) >= 8 else 1
    for kind, key in keys:
        if kind in SCORES and (len(word) > 1 or kind == LookupKey.NAME_WORD):
            if key == word:
                yield SCORES[kind][0]
            elif key.startswith(word):
                yield SCORES[kind][1]
        is_near = kind == LookupKey.NAME_WORD and (key[0] == word[0] or key[-2:] == word[-2:])
        if is_near and 0 < (distance := OSA.distance(word, key)) <= max_distance:
            yield CORRECTION_SCORES[distance]


def find_and_score(owner: User, query: str, limit: int) -> list[tuple[str, float]]:
    rows: Sequence[dict[str, Any]] = find_people(owner, query, limit)
    return [(row["person"]["id"], row["score"]) for row in rows]


@pytest.mark.split
@pytest.mark.parametrize("in_trash", [0, 0.3, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_results_equal_those_of_the_reference(alice: User, seed: int, in_trash: float) -> None:
    rng = random.Random(f"{seed} {in_trash}")
    add_people(alice, rng, 120, in_trash)
    people = load_people_with_keys(alice)
    for _ in range(40):
        query = " ".join(rng.sample(QUERY_WORDS, rng.choice((1, 1, 2, 3))))
        limit = rng.choice((1, 5, 100))
        assert find_and_score(alice, query, limit) == find_slowly(people, query, limit), (query, limit)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite does not count the rows that it reads")
def test_people_with_a_lower_score_are_not_read(alice: User) -> None:
    people = [Person(owner=alice, name="Grace", surname="Hopper") for _ in range(300)]
    people[7].notes = "Likes harps."
    make_keys(alice, Person.objects.bulk_create(people))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    before = count_people_read()
    assert find_and_score(alice, "hopper harps", 20) == [(str(people[7].pk), 0.7)]
    assert count_people_read() - before < 10


def count_people_read() -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = %s",
            [Person._meta.db_table],
        )
        return int(cursor.fetchone()[0])
