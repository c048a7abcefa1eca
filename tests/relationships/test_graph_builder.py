"""Which nodes and edges the graphs contain, without a database."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from relationships.connectivity import USER, Network
from relationships.graphs import GraphEdge, GraphNode, build_network_graph, build_person_graph
from tests.relationships import reference

LETTERS = "abcdefgh"


def node(name: str, *, center: bool = False) -> GraphNode:
    return {"id": name, "label": name.upper(), "groups": [], "colors": [], "isCenter": center, "isUser": name == USER}


def edge(source: str, target: str, kind: str | None = "FRIEND") -> GraphEdge:
    return {
        "source": source,
        "target": target,
        "type": kind,
        "label": kind,
        "color": None,
        "relationshipId": None,
    }


def names(nodes: Sequence[GraphNode]) -> list[str]:
    return [item["id"] for item in nodes]


def test_a_person_graph_has_the_person_and_their_neighbours() -> None:
    edges = [edge("a", USER), edge("a", "b", "PARENT"), edge("a", "b", "FRIEND"), edge("a", "c")]
    graph = build_person_graph(node("a", center=True), edges, node(USER), [node("c"), node("b"), node("z")])
    assert names(graph["nodes"]) == ["a", USER, "b", "c"]
    assert graph["edges"] == edges
    assert [item["isCenter"] for item in graph["nodes"]] == [True, False, False, False]


def test_the_user_is_a_node_only_if_an_edge_ends_there() -> None:
    graph = build_person_graph(node("a", center=True), [edge("a", "b")], node(USER), [node("b")])
    assert names(graph["nodes"]) == ["a", "b"]


def test_an_edge_without_a_node_is_left_out() -> None:
    graph = build_person_graph(node("a", center=True), [edge("a", "gone")], node(USER), [])
    assert (names(graph["nodes"]), graph["edges"]) == (["a"], [])


def test_the_network_graph_keeps_islands_and_the_order_of_the_people() -> None:
    people = [node("c"), node("a"), node("b")]
    graph = build_network_graph(
        node(USER, center=True), people, [edge("a", USER), edge("a", "b"), edge("a", "left-out")]
    )
    assert names(graph["nodes"]) == [USER, "c", "a", "b"]
    assert graph["edges"] == [edge("a", USER), edge("a", "b")]


def test_a_limit_keeps_those_nearest_to_the_user() -> None:
    people = [node(name) for name in "abcdz"]
    edges = [edge("d", USER), edge("d", "c"), edge("c", "b"), edge("b", "a")]
    assert names(build_network_graph(node(USER), people, edges, limit=3)["nodes"]) == [USER, "d", "c", "b"]
    assert names(build_network_graph(node(USER), people, edges, limit=5)["nodes"]) == [USER, *"abcdz"]


node_ids = st.sampled_from([*LETTERS, USER])


@given(
    pairs=st.lists(st.tuples(node_ids, node_ids), max_size=20),
    people=st.lists(st.sampled_from(LETTERS), unique=True),
    limit=st.integers(1, len(LETTERS)),
)
def test_a_limited_graph_is_closed_and_cuts_nobody_off(
    pairs: list[tuple[str, str]], people: list[str], limit: int
) -> None:
    edges = [edge(*pair) for pair in pairs]
    graph = build_network_graph(node(USER), [node(name) for name in people], edges, limit)
    kept = names(graph["nodes"])[1:]
    assert len(kept) == min(limit, len(people))
    assert all(item["source"] in [USER, *kept] and item["target"] in [USER, *kept] for item in graph["edges"])
    connected = reference.connected(people, pairs)
    shown = Network((item["source"], item["target"]) for item in graph["edges"]).reachable()
    assert shown == connected & set(kept)
    assert shown == connected or len(shown) == limit
