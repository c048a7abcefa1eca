"""Who hangs on somebody alone, found by growing outwards from them instead of walking the whole network."""

from collections import defaultdict
from collections.abc import Iterable, Mapping


class SearchLimitError(Exception):
    """So many people were seen that the whole network is the cheaper way."""


class Regions:
    """The people beside those who are to go, in regions: whoever is linked without passing one of `gone`.

    A region that reaches a tie to the user stays connected; it is not looked at any further. One that is seen to its
    end without such a tie holds orphans, provided that it is connected now: over somebody of `gone`.
    """

    def __init__(self, gone: Mapping[str, bool], most_seen: int) -> None:
        """`gone`: those who are to go, and whether each is something to the user."""
        self.gone = gone
        self._most_seen = most_seen
        self._parent: dict[str, str] = {}
        self._anchored: set[str] = set()
        self._beside: defaultdict[str, set[str]] = defaultdict(set)

    def grow(self, links: Iterable[tuple[str, str, bool]]) -> list[str]:
        """Take in (person, neighbour, whether the neighbour is something to the user); returns whom to ask next.

        Raises SearchLimitError.
        """
        new = []
        for one, other, is_tied in links:
            if one in self.gone:
                self._beside[one].add(other)
            if other in self.gone:
                self._beside[other].add(one)
                continue
            if other not in self._parent:
                self._parent[other] = other
                new.append(other)
            if one not in self.gone:
                self._join(one, other)
            if is_tied:
                self._anchored.add(self._root(other))
        if len(self._parent) > self._most_seen:
            raise SearchLimitError
        return [person for person in new if self._root(person) not in self._anchored]

    def orphans(self) -> set[str]:
        """The people who are connected now, and no longer once `gone` are not there."""
        kept = self._connected_gone()
        lost = {
            self._root(person)
            for one in kept
            for person in self._beside[one]
            if person not in self.gone and self._root(person) not in self._anchored
        }
        return {person for person in self._parent if self._root(person) in lost}

    def _connected_gone(self) -> set[str]:
        """Those of `gone` who are connected now: tied themselves, or over regions and others of `gone`."""
        sides: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.gone:
            for other in self._beside[one]:
                sides[other if other in self.gone else self._root(other)].add(one)
        reached = {one for one, is_tied in self.gone.items() if is_tied}
        reached |= {one for region in self._anchored for one in sides[region]}
        frontier = list(reached)
        while frontier:
            one = frontier.pop()
            nodes = {other if other in self.gone else self._root(other) for other in self._beside[one]} | {one}
            for near in {near for node in nodes for near in sides[node]} - reached:
                reached.add(near)
                frontier.append(near)
        return reached

    def _root(self, person: str) -> str:
        while self._parent[person] != person:
            self._parent[person] = self._parent[self._parent[person]]
            person = self._parent[person]
        return person

    def _join(self, one: str, other: str) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._parent[second] = first
            if second in self._anchored:
                self._anchored.remove(second)
                self._anchored.add(first)
