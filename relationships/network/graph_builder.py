"""The shapes of the two graphs of the API: a person with their direct connections, and the whole network."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypedDict

from relationships.network.connectivity import USER, Network


class Node(TypedDict):
    """A person, or the user. `colors` are those of `groups`, in the same order."""

    id: str
    label: str
    groups: list[str]
    colors: list[str | None]
    isCenter: bool


class Edge(TypedDict):
    """Read as: `source` is `type` of `target`. An edge to the user has no relationshipId."""

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
    """The center with the edges at it, and the node at the other end of each.

    The user is drawn only where an edge ends there; edges to anybody who has no node are left out.
    """
    by_id = {node["id"]: node for node in others} | {USER: user, center["id"]: center}
    kept = [edge for edge in edges if edge["source"] in by_id and edge["target"] in by_id]
    at_ends = dict.fromkeys(end for edge in kept for end in (edge["source"], edge["target"]))
    at_ends.pop(center["id"], None)
    return {"nodes": [center, *(by_id[end] for end in at_ends)], "edges": kept}


def build_network_graph(user: Node, people: Sequence[Node], edges: Collection[Edge], limit: int | None = None) -> Graph:
    """The user as center, the people and the edges among them; with a limit, those nearest to the user."""
    kept = people if limit is None or limit >= len(people) else _nearest(people, edges, limit)
    ids = {node["id"] for node in kept}
    ids.add(USER)
    among = [edge for edge in edges if edge["source"] in ids and edge["target"] in ids]
    return {"nodes": [user, *kept], "edges": among}


def _nearest(people: Sequence[Node], edges: Iterable[Edge], limit: int) -> list[Node]:
    """The `limit` people with the fewest links to the user; equals stay in order, islands come last."""
    ids = {node["id"] for node in people} | {USER}
    links = ((edge["source"], edge["target"]) for edge in edges)
    distances = Network(link for link in links if link[0] in ids and link[1] in ids).distances()
    beyond = len(people) + 1
    return sorted(people, key=lambda node: distances.get(node["id"], beyond))[:limit]
