"""Who is connected to the user, and who no longer is once some people are removed (docs/network.md).

Pure: ids in, ids out. `Network` takes all edges; `ComponentSearch` finds orphans from the removed people outwards,
which costs less than to read the whole network where few are removed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

USER: Final = "user"
"""The id of the user's node. No person has it: their ids are UUIDs."""


class Network:
    """The undirected graph of the user and the people. Every method takes linear time.

    Edges may repeat, have either direction and be loops; the results do not depend on it.
    """

    def __init__(self, edges: Iterable[tuple[str, str]], related_to_user: Iterable[str] = ()) -> None:
        neighbours: defaultdict[str, list[str]] = defaultdict(list)
        for one, other in edges:
            neighbours[one].append(other)
            neighbours[other].append(one)
        for person in related_to_user:
            neighbours[USER].append(person)
            neighbours[person].append(USER)
        self._neighbours = dict(neighbours)

    def distances(self, removed: Collection[str] = frozenset(), *, user: str = USER) -> dict[str, int]:
        """The number of edges between the user and each reachable node, nearest first, the user included.

        The search does not enter nodes in `removed`, so it does not reach what lies only behind them. `user` is the
        node from which it starts.
        """
        removed = removed if isinstance(removed, (set, frozenset)) else frozenset(removed)
        found = {user: 0}
        frontier = [user]
        distance = 0
        # Breadth-first and iterative: recursion would overflow the stack on a chain of some thousand people.
        while frontier:
            distance += 1
            reached = []
            for node in frontier:
                for neighbour in self._neighbours.get(node, ()):
                    if neighbour not in found and neighbour not in removed:
                        found[neighbour] = distance
                        reached.append(neighbour)
            frontier = reached
        return found

    def reachable(self, removed: Collection[str] = frozenset()) -> set[str]:
        """The people connected to the user when those in `removed` are left out."""
        reached = set(self.distances(removed))
        reached.discard(USER)
        return reached

    def orphans_of(self, removed: Collection[str]) -> set[str]:
        """The people connected to the user now, and no longer once all of `removed` are gone.

        Contains whole branches, but nobody in `removed`.
        """
        removed = frozenset(removed)
        return self.reachable() - self.reachable(removed) - removed


class SearchLimitError(Exception):
    """The search visited so many people that it is cheaper to read the whole network."""


class ComponentSearch:
    """The connected components, without the removed people, of the people next to them.

    The caller reads edges hop by hop and passes them to `add_edges`. A component with an edge to the user stays
    connected, and its search ends there. A component that is complete without one consists of orphans, provided that
    it is connected to the user now, through removed people.

    Components are kept as disjoint sets (union-find), since two of them may turn out to be one.
    """

    def __init__(self, removed: Mapping[str, bool], max_visited: int) -> None:
        """`removed`: ids of the removed people, and whether each has an edge to the user."""
        self.removed = removed
        self._max_visited = max_visited
        self._parents: dict[str, str] = {}
        self._connected_roots: set[str] = set()
        self._neighbours_of_removed: defaultdict[str, set[str]] = defaultdict(set)

    def add_edges(self, edges: Iterable[tuple[str, str, bool]]) -> list[str]:
        """Add edges as (person, neighbour, whether the neighbour has an edge to the user).

        Returns the people whose edges to read next. Raises SearchLimitError.
        """
        new = []
        for person, neighbour, is_related_to_user in edges:
            if person in self.removed:
                self._neighbours_of_removed[person].add(neighbour)
            if neighbour in self.removed:
                self._neighbours_of_removed[neighbour].add(person)
                continue
            if neighbour not in self._parents:
                self._parents[neighbour] = neighbour
                new.append(neighbour)
            if person not in self.removed:
                self._union(person, neighbour)
            if is_related_to_user:
                self._connected_roots.add(self._find(neighbour))
        if len(self._parents) > self._max_visited:
            raise SearchLimitError
        # Checked after all edges: a later one may have joined the component of an earlier one to a connected one.
        return [person for person in new if self._find(person) not in self._connected_roots]

    def orphans(self) -> set[str]:
        """The people connected to the user now, and no longer without the removed ones. Call it after the search."""
        orphan_roots = {
            self._find(neighbour)
            for person in self._reachable_removed()
            for neighbour in self._neighbours_of_removed[person]
            if neighbour not in self.removed and self._find(neighbour) not in self._connected_roots
        }
        return {person for person in self._parents if self._find(person) in orphan_roots}

    def _reachable_removed(self) -> set[str]:
        """The removed people who are connected to the user now.

        Either directly, or through components and other removed people.
        """
        # Nodes of this search are the removed people and, by their roots, the components.
        adjacent: defaultdict[str, set[str]] = defaultdict(set)
        for person in self.removed:
            for neighbour in self._neighbours_of_removed[person]:
                adjacent[self._node(neighbour)].add(person)
        reached = {person for person, is_related_to_user in self.removed.items() if is_related_to_user}
        reached |= {person for root in self._connected_roots for person in adjacent[root]}
        frontier = list(reached)
        while frontier:
            person = frontier.pop()
            nodes = {self._node(neighbour) for neighbour in self._neighbours_of_removed[person]} | {person}
            new = {near for node in nodes for near in adjacent[node]} - reached
            reached |= new
            frontier += new
        return reached

    def _node(self, person: str) -> str:
        return person if person in self.removed else self._find(person)

    def _find(self, person: str) -> str:
        """The root of the person's component. Halves the path to it on the way."""
        while self._parents[person] != person:
            self._parents[person] = self._parents[self._parents[person]]
            person = self._parents[person]
        return person

    def _union(self, one: str, other: str) -> None:
        root, other_root = self._find(one), self._find(other)
        if root != other_root:
            self._parents[other_root] = root
            if other_root in self._connected_roots:
                self._connected_roots.remove(other_root)
                self._connected_roots.add(root)
