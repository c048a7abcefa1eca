"""Builds the two graphs of the API: one person with their neighbours, and the whole network."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypedDict

from relationships.network.connectivity import USER, Network


class Node(TypedDict):
    """A person, or the user. `groups` are names, `colors` their colors in the same order."""

    id: str
    label: str
    groups: list[str]
    colors: list[str | None]
    isCenter: bool


class Edge(TypedDict):
    """`source` is `type` of `target`. An edge to the user has no relationshipId."""

    source: str
    target: str
    type: str | None
    label: str | None
    color: str | None
    relationshipId: str | None


class Graph(TypedDict):
    nodes: list[Node]
    edges: list[Edge]


def build_person_graph(center: Node, edges: Iterable[Edge], user: Node, others: Iterable[Node]) -> Graph:
    """The center, its edges, and the nodes at their other ends.

    The user is a node only if an edge ends there. Edges to ids without a node are left out.
    """
    by_id = {node["id"]: node for node in others} | {USER: user, center["id"]: center}
    kept = [edge for edge in edges if edge["source"] in by_id and edge["target"] in by_id]
    neighbours = dict.fromkeys(end for edge in kept for end in (edge["source"], edge["target"]))
    neighbours.pop(center["id"], None)
    return {"nodes": [center, *(by_id[key] for key in neighbours)], "edges": kept}


def build_network_graph(user: Node, people: Sequence[Node], edges: Collection[Edge], limit: int | None = None) -> Graph:
    """The user as center, the people, and the edges among them. With a limit, the people nearest to the user."""
    kept = people if limit is None or limit >= len(people) else _nearest(people, edges, limit)
    ids = {node["id"] for node in kept} | {USER}
    inner_edges = [edge for edge in edges if edge["source"] in ids and edge["target"] in ids]
    return {"nodes": [user, *kept], "edges": inner_edges}


def _nearest(people: Sequence[Node], edges: Iterable[Edge], limit: int) -> list[Node]:
    """The `limit` people with the shortest paths to the user. Ties keep their order, unreachable people come last."""
    ids = {node["id"] for node in people} | {USER}
    pairs = ((edge["source"], edge["target"]) for edge in edges)
    # Without the edges of people that are filtered out: a path through them would not be in the graph.
    distances = Network((one, other) for one, other in pairs if one in ids and other in ids).distances()
    unreachable = len(people) + 1
    return sorted(people, key=lambda node: distances.get(node["id"], unreachable))[:limit]
