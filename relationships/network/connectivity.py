"""Reachability: who is connected to the user, and who no longer is once some people are removed."""

from collections import defaultdict
from collections.abc import Collection, Iterable
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

    def distances(self, removed: Collection[str] = frozenset()) -> dict[str, int]:
        """The number of edges between the user and each reachable node, nearest first, the user included.

        The search does not enter nodes in `removed`, so it does not reach what lies only behind them.
        """
        removed = removed if isinstance(removed, (set, frozenset)) else frozenset(removed)
        found = {USER: 0}
        frontier = [USER]
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
