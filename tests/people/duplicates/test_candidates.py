"""Candidate pairs: nearly linear in number for all names, and few misspelt names are missed."""

import random
from itertools import pairwise

import pytest

from people.duplicates.finder import MAX_GROUP_SIZE, WINDOW, Blocks, Match, group_matches
from people.duplicates.keys import narrow_name_blocks
from people.duplicates.similarity import THRESHOLD, Identity, build_identity, similarity
from people.names import NameParts

GIVEN = "Anna Bruno Clara Dimitri Elena Felix Greta Hannes Irina Jakob Katharina Leopold Miriam Nikolas Olga Paulina"
FAMILY = (
    "Ackermann Bergstrom Castellano Dabrowski Eriksen Fontaine Gutierrez Hoffmann Ivanova Johansson Kowalski Lindqvist"
)


def random_names(count: int, rng: random.Random) -> list[NameParts]:
    return [NameParts(rng.choice(GIVEN.split()), rng.choice(FAMILY.split())) for _ in range(count)]


def candidates(people: list[NameParts]) -> tuple[list[Identity], list[tuple[int, int]]]:
    identities = [build_identity(parts) for parts in people]
    blocks = Blocks()
    for number, parts in enumerate(people):
        blocks.extend(narrow_name_blocks(parts), number)
    orders = [[known.name.joined_family for known in identities], [known.name.given for known in identities]]
    return identities, list(blocks.pairs(orders))


@pytest.mark.parametrize("same", [False, True], ids=["few names", "one name"])
def test_pairs_grow_with_people_not_with_their_square(same: bool) -> None:
    counts = []
    for size in (4_000, 20_000):
        people = [NameParts("Maria", "Garcia")] * size if same else random_names(size, random.Random(1))
        counts.append(len(candidates(people)[1]))
    assert counts[1] <= 5.5 * counts[0]
    assert counts[1] <= 20_000 * 2 * WINDOW * 5


def test_each_pair_comes_once_smaller_number_first() -> None:
    pairs = candidates(random_names(500, random.Random(2)))[1]
    assert len(pairs) == len(set(pairs))
    assert all(one < other for one, other in pairs)


def misspelt(word: str, rng: random.Random) -> str:
    """`word` with one typing error: letters transposed, or one missing, doubled or replaced."""
    place = rng.randrange(len(word) - 1)
    letter = rng.choice("abcdefghiklmnoprstuvw")
    variants = [
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
        word[:place] + letter + word[place + 1 :],
    ]
    return rng.choice(variants)


def test_misspelt_names_are_among_the_candidates() -> None:
    rng = random.Random(3)
    people = random_names(3_000, rng)
    misspelt_people = []
    for number in range(0, 3_000, 15):
        name, family = people[number][:2]
        wrong = (misspelt(name, rng), family) if rng.random() < 0.5 else (name, misspelt(family or "", rng))
        misspelt_people.append((people[number], len(people)))
        people.append(NameParts(*wrong))
    identities, pairs = candidates(people)
    candidates_of: dict[int, set[NameParts]] = {number: set() for _, number in misspelt_people}
    for one, other in pairs:
        if other in candidates_of:
            candidates_of[other].add(people[one])
    similar = [
        (right, n) for right, n in misspelt_people if similarity(build_identity(right), identities[n]) >= THRESHOLD
    ]
    found = sum(right in candidates_of[number] for right, number in similar)
    print(f"{len(misspelt_people)} misspelt: {len(similar)} similar enough, {found} of them candidates")  # noqa: T201 - shown by -rP
    assert len(similar) >= 0.8 * len(misspelt_people)
    assert found >= 0.97 * len(similar)


def test_groups_are_connected_bounded_and_in_order() -> None:
    matches = [Match(0.9, one, other) for one, other in pairwise(range(120))]
    groups = group_matches([*matches, Match(0.95, 200, 201)])
    assert groups[0] == (0.95, [200, 201])
    assert all(len(group.members) <= MAX_GROUP_SIZE for group in groups)
    assert sorted(n for group in groups[1:] for n in group.members) == list(range(120))
    for group in groups[1:]:
        assert group.members == list(range(group.members[0], group.members[-1] + 1))


def test_the_most_similar_stay_together_when_a_group_is_full() -> None:
    matches = [Match(0.8, 0, 1), Match(0.8, 1, 2), Match(0.99, 2, 3)]
    assert group_matches(matches, max_size=2) == [(0.99, [2, 3]), (0.8, [0, 1])]
