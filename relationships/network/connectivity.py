"""Who is connected to the user, and who would not be any more once somebody is gone."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final

USER: Final = "user"
"""The id of the user's own node; no person has it, theirs are UUIDs."""


class Network:
    """The undirected graph over the user and the people; every question takes linear time.

    Links may repeat, run in either direction and end where they start; none of it changes an answer.
    """

    def __init__(self, links: Iterable[tuple[str, str]], related_to_user: Iterable[str] = ()) -> None:
        neighbours: defaultdict[str, list[str]] = defaultdict(list)
        for one, other in links:
            neighbours[one].append(other)
            neighbours[other].append(one)
        for person in related_to_user:
            neighbours[USER].append(person)
            neighbours[person].append(USER)
        self._neighbours = dict(neighbours)

    def distances(self, without: Collection[str] = frozenset()) -> dict[str, int]:
        """Links between the user and everybody reachable, in order of distance, the user first.

        Nobody in `without` is entered, and so nothing that lies only behind them is.
        """
        gone = without if isinstance(without, (set, frozenset)) else frozenset(without)
        steps = {USER: 0}
        frontier = [USER]
        distance = 0
        while frontier:
            distance += 1
            reached = []
            for person in frontier:
                for neighbour in self._neighbours.get(person, ()):
                    if neighbour not in steps and neighbour not in gone:
                        steps[neighbour] = distance
                        reached.append(neighbour)
            frontier = reached
        return steps

    def connected(self, without: Collection[str] = frozenset()) -> set[str]:
        """The people reachable from the user when those in `without` are not there."""
        reached = set(self.distances(without))
        reached.discard(USER)
        return reached

    def orphans_of(self, gone: Collection[str]) -> set[str]:
        """The people connected now and no longer once all of `gone` are, whole branches behind them included.

        Never one of `gone`, and nobody who is not connected to begin with.
        """
        gone = frozenset(gone)
        return self.connected() - self.connected(without=gone) - gone
