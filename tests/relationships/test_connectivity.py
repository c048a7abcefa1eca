"""Connectivity and orphans: drawn examples, and random graphs compared with the slow reference."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relationships.connectivity import USER, Network
from tests.relationships import reference

LETTERS = "abcdefghijkl"
nodes = st.sampled_from([*LETTERS, USER])
some_edges = st.lists(st.tuples(nodes, nodes), max_size=30)
some_people = st.sets(st.sampled_from(LETTERS), max_size=5)


def parse_network(picture: str) -> Network:
    """Each pair of letters is an edge; `*` is the user."""
    names = [USER if letter == "*" else letter for letter in picture.replace(" ", "")]
    return Network(zip(names[::2], names[1::2], strict=True))


@pytest.mark.parametrize(
    ("picture", "removed", "orphans"),
    [
        pytest.param("*a ab bc", "a", "bc", id="a whole branch behind one person"),
        pytest.param("*a ab bc", "b", "c", id="only what lies behind"),
        pytest.param("*a ab bc", "c", "", id="nobody behind a leaf"),
        pytest.param("*a *b ac bc", "a", "", id="a second path"),
        pytest.param("*a *b ac bc", "ab", "c", id="both paths removed"),
        pytest.param("*a ab bc cd da", "a", "bcd", id="a cycle with one entry"),
        pytest.param("*a ab bc cd da", "b", "", id="the other way round the cycle"),
        pytest.param("*a bc cd", "c", "", id="an island was never connected"),
        pytest.param("*a ab", "ab", "", id="the removed are no orphans"),
        pytest.param("*a ab ac cd", "ac", "bd", id="several removed together"),
        pytest.param("*a aa ab ba", "a", "b", id="loops and repeats change nothing"),
        pytest.param("*a", "z", "", id="a person without edges"),
        pytest.param("", "a", "", id="an empty network"),
    ],
)
def test_orphans(picture: str, removed: str, orphans: str) -> None:
    assert parse_network(picture).orphans_of(set(removed)) == set(orphans)


@given(edges=some_edges, removed=some_people)
def test_orphans_agree_with_the_reference(edges: list[tuple[str, str]], removed: set[str]) -> None:
    assert Network(edges).orphans_of(removed) == reference.orphans_of(removed, LETTERS, edges)


@given(edges=some_edges, removed=some_people)
def test_connected_agrees_with_the_reference(edges: list[tuple[str, str]], removed: set[str]) -> None:
    remaining = set(LETTERS) - removed
    assert Network(edges).reachable(removed=removed) == reference.connected(remaining, edges)


@given(edges=some_edges, related=some_people)
def test_a_relationship_to_the_user_is_an_edge(edges: list[tuple[str, str]], related: set[str]) -> None:
    spelled_out = [*edges, *((USER, person) for person in related)]
    assert Network(edges, related).reachable() == Network(spelled_out).reachable()


@given(edges=some_edges, removed=some_people)
def test_direction_and_repetition_do_not_matter(edges: list[tuple[str, str]], removed: set[str]) -> None:
    both_ways = [*edges, *((other, one) for one, other in edges)]
    assert Network(both_ways).orphans_of(removed) == Network(edges).orphans_of(removed)


@given(edges=some_edges, removed=some_people)
def test_removing_the_orphans_too_disconnects_nobody_else(edges: list[tuple[str, str]], removed: set[str]) -> None:
    """Without X and its orphans, the same people are connected as without X: there are no new orphans."""
    network = Network(edges)
    orphans = network.orphans_of(removed)
    assert network.reachable(removed=removed | orphans) == network.reachable(removed=removed)


def test_distances_come_nearest_first() -> None:
    assert list(parse_network("*a ab bc *d ce").distances().items()) == [
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


def count_uses_for_chain(length: int) -> int:
    chain = [CountedId(position) for position in range(length)]
    network = Network(itertools.pairwise(chain), related_to_user=[chain[0]])
    CountedId.uses = 0
    assert len(network.orphans_of({chain[0]})) == length - 1
    return CountedId.uses


def test_a_chain_of_10000_takes_linear_time_and_no_recursion() -> None:
    assert count_uses_for_chain(10_000) < 11 * count_uses_for_chain(1_000)
