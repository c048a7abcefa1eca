"""Connectivity and orphans, by pictures and against the slow reference on random graphs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relationships.network.connectivity import USER, Network
from tests.relationships import reference

LETTERS = "abcdefghijkl"
ends = st.sampled_from([*LETTERS, USER])
some_links = st.lists(st.tuples(ends, ends), max_size=30)
some_people = st.sets(st.sampled_from(LETTERS), max_size=5)


def network(picture: str) -> Network:
    """Links as letters in pairs; `*` is the user."""
    names = [USER if letter == "*" else letter for letter in picture.replace(" ", "")]
    return Network(zip(names[::2], names[1::2], strict=True))


@pytest.mark.parametrize(
    ("picture", "gone", "orphans"),
    [
        pytest.param("*a ab bc", "a", "bc", id="a whole branch hangs on one"),
        pytest.param("*a ab bc", "b", "c", id="only what lies behind"),
        pytest.param("*a ab bc", "c", "", id="nothing hangs on a leaf"),
        pytest.param("*a *b ac bc", "a", "", id="a second way round"),
        pytest.param("*a *b ac bc", "ab", "c", id="both ways gone"),
        pytest.param("*a ab bc cd da", "a", "bcd", id="a cycle reached by one"),
        pytest.param("*a ab bc cd da", "b", "", id="a cycle goes the other way round"),
        pytest.param("*a bc cd", "c", "", id="an island was never connected"),
        pytest.param("*a ab", "ab", "", id="the gone are no orphans"),
        pytest.param("*a ab ac cd", "ac", "bd", id="of several, once all are gone"),
        pytest.param("*a aa ab ba", "a", "b", id="loops and repeats change nothing"),
        pytest.param("*a", "z", "", id="somebody without a link"),
        pytest.param("", "a", "", id="nobody at all"),
    ],
)
def test_orphans(picture: str, gone: str, orphans: str) -> None:
    assert network(picture).orphans_of(set(gone)) == set(orphans)


@given(links=some_links, gone=some_people)
def test_orphans_agree_with_the_reference(links: list[tuple[str, str]], gone: set[str]) -> None:
    assert Network(links).orphans_of(gone) == reference.orphans_of(gone, LETTERS, links)


@given(links=some_links, gone=some_people)
def test_connected_agrees_with_the_reference(links: list[tuple[str, str]], gone: set[str]) -> None:
    remaining = set(LETTERS) - gone
    assert Network(links).reachable(removed=gone) == reference.connected(remaining, links)


@given(links=some_links, related=some_people)
def test_a_relationship_to_the_user_is_a_link_like_any_other(links: list[tuple[str, str]], related: set[str]) -> None:
    spelled_out = [*links, *((USER, person) for person in related)]
    assert Network(links, related).reachable() == Network(spelled_out).reachable()


@given(links=some_links, gone=some_people)
def test_direction_and_repetition_do_not_matter(links: list[tuple[str, str]], gone: set[str]) -> None:
    both_ways = [*links, *((other, one) for one, other in links)]
    assert Network(both_ways).orphans_of(gone) == Network(links).orphans_of(gone)


@given(links=some_links, gone=some_people)
def test_without_the_orphans_nobody_else_is_lost(links: list[tuple[str, str]], gone: set[str]) -> None:
    """Deleting X and its orphans leaves exactly who stays connected without X, and makes no new orphan."""
    drawn = Network(links)
    orphans = drawn.orphans_of(gone)
    assert drawn.reachable(removed=gone | orphans) == drawn.reachable(removed=gone)


def test_distances_come_nearest_first() -> None:
    assert list(network("*a ab bc *d ce").distances().items()) == [
        (USER, 0),
        ("a", 1),
        ("d", 1),
        ("b", 2),
        ("c", 3),
        ("e", 4),
    ]


class CountedId(str):
    """An id that counts how often ids are looked up or compared."""

    uses = 0

    def __hash__(self) -> int:
        CountedId.uses += 1
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        CountedId.uses += 1
        return str.__eq__(self, other)


def uses_for_a_chain(length: int) -> int:
    chain = [CountedId(position) for position in range(length)]
    drawn = Network(itertools.pairwise(chain), related_to_user=[chain[0]])
    CountedId.uses = 0
    assert len(drawn.orphans_of({chain[0]})) == length - 1
    return CountedId.uses


def test_a_chain_of_10000_neither_recurses_nor_squares() -> None:
    assert uses_for_a_chain(10_000) < 11 * uses_for_a_chain(1_000)
