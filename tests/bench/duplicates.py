"""Duplicates of one and of all among 10,000 and 50,000 people; merge and undo."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.duplicates.finder import find_duplicates, find_groups
from people.merging.merge import merge_people
from people.merging.undo import undo_merge
from people.models import Person
from people.services.person_writer import create_person
from tests.bench.figures import Figure, SharedData, figure, query_count
from tests.builders import make_keys, make_user

SIZES = (10_000, 50_000)
GIVEN_NAME_COUNT = 600
_SYLLABLES = "an be cor da el fi gro hu is ja ka lo mi no or pe qui ra sto ti ul vi wo za".split()  # noqa: SIM905
BATCH = 2_000


def populate(shared: SharedData, size: int) -> User:
    """Create an account in which one in fifty people is a duplicate of another, half of them misspelt."""
    return shared.once(f"duplicates-{size}", lambda: make_account(size))  # type: ignore[no-any-return]  # what make_account returns


def make_account(size: int) -> User:
    owner, rng = make_user(f"duplicates-{size}@example.org"), random.Random(size)
    # More people bring more family names, though fewer than people (Heaps): 6,000 for 10,000 and 18,500 for 50,000.
    given, family = (
        make_names(rng, count, longest) for count, longest in ((GIVEN_NAME_COUNT, 3), (int(9.5 * size**0.7), 4))
    )
    people: list[Person] = []
    for number in range(size):
        original = people[rng.randrange(len(people))] if people and number % 50 == 0 else None
        people.append(
            make_duplicate(owner, original, rng) if original else make_person(owner, number, rng, given, family)
        )
    insert_people(owner, people)
    return owner


def insert_people(owner: User, people: list[Person]) -> None:
    for start in range(0, len(people), BATCH):
        batch = people[start : start + BATCH]
        with account_write(owner):
            Person.objects.bulk_create(batch)
        make_keys(owner, batch)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def make_names(rng: random.Random, count: int, longest: int) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, longest))).title() for _ in range(count)]


def make_person(owner: User, number: int, rng: random.Random, given: list[str], family: list[str]) -> Person:
    # Names are not equally common: a quarter of all people share the first few.
    first, last = (names[min(int(rng.paretovariate(0.8)) - 1, len(names) - 1)] for names in (given, family))
    if rng.random() < 0.75:
        first, last = rng.choice(given), rng.choice(family)
    return Person(
        owner=owner,
        name=first,
        surname=last,
        emails=[{"id": f"e{number}", "type": "home", "email": f"person{number}@example.org"}],
        phone_numbers=[{"id": f"p{number}", "type": "home", "number": f"+49 30 {1_000_000 + number}"}],
    )


def make_duplicate(owner: User, person: Person, rng: random.Random) -> Person:
    surname = person.surname or ""
    place = rng.randrange(1, len(surname) - 1)
    if rng.random() < 0.5:  # two letters exchanged
        surname = surname[:place] + surname[place + 1] + surname[place] + surname[place + 2 :]
    return Person(owner=owner, name=person.name, surname=surname, emails=[dict(e) for e in person.emails])


def all_duplicates(shared: SharedData) -> list[Figure]:
    return measure_sizes(shared, "duplicates of all", populate)


def all_duplicates_of_similar_names(shared: SharedData) -> list[Figure]:
    return measure_sizes(shared, "duplicates of all, 400 names in all", populate_alike)


def populate_alike(shared: SharedData, size: int) -> User:
    """The worst case: everybody has one of 400 names, so that every block is too large."""

    def make() -> User:
        owner, rng = make_user(f"alike-{size}@example.org"), random.Random(size)
        given, family = make_names(rng, 20, 3), make_names(rng, 20, 4)
        insert_people(owner, [make_person(owner, number, rng, given, family) for number in range(size)])
        return owner

    return shared.once(f"alike-{size}", make)  # type: ignore[no-any-return]  # what make returns


def measure_sizes(shared: SharedData, name: str, people: Callable[[SharedData, int], User]) -> list[Figure]:
    figures: list[Figure] = []
    cpu: list[float] = []
    for size in SIZES:
        owner = people(shared, size)
        start = time.process_time()
        groups = find_groups(owner)
        cpu.append(time.process_time() - start)
        members = sum(len(group.people) for group in groups)
        note = f"{len(groups):,} groups, {members:,} people in them, {cpu[-1]:.1f} s CPU"
        figures.append(figure(f"{name}, {size:,}", partial(find_groups, owner), times=3, note=note))
    small, large = figures
    return [small, replace(large, note=f"{large.note}, {cpu[1] / cpu[0]:.1f} times 10,000")]


def duplicates_of_one(shared: SharedData) -> list[Figure]:
    figures = []
    for size in SIZES:
        owner = populate(shared, size)
        middle = Person.objects.owned_by(owner).order_by("id")[size // 2]
        name = f"duplicates of one, {size:,}"
        figures.append(figure(name, partial(find_duplicates, owner, middle)))
    return figures


def merge_and_undo(shared: SharedData) -> list[Figure]:
    owner = populate(shared, SIZES[0])
    now = timezone.now()

    def entries(start: int) -> dict[str, Any]:
        return {
            "emails": [{"type": "home", "email": f"merge{n}@example.org"} for n in range(start, start + 10)],
            "phone_numbers": [{"type": "home", "number": f"+49 40 {2_000_000 + n}"} for n in range(start, start + 10)],
        }

    primary, secondary = (
        create_person(owner=owner, data={"name": "Merged", **entries(start)}, now=now) for start in (0, 5)
    )
    merges: list[Any] = []

    def merge() -> None:
        pair = {"primary_id": primary.pk, "secondary_id": secondary.pk}
        merges.append(merge_people(owner=owner, **pair, overrides={}, now=now))

    def undo() -> None:
        undo_merge(owner=owner, merge_id=merges.pop().pk, now=now)

    merge_queries, undo_queries = query_count(merge), query_count(undo)
    times = [(measure_elapsed(merge), measure_elapsed(undo)) for _ in range(15)]
    return [
        Figure("merge", median(span[0] for span in times), merge_queries, note="10 e-mails and 10 phones each"),
        Figure("undo of a merge", median(span[1] for span in times), undo_queries),
    ]


def measure_elapsed(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


BENCHES = [
    ("duplicates of all", all_duplicates),
    ("duplicates of all, alike", all_duplicates_of_similar_names),
    ("duplicates of one", duplicates_of_one),
    ("merge and undo", merge_and_undo),
]
