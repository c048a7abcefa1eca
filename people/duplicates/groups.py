"""Groups of duplicates: connected components of the matches, joined from the most similar match down."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

MAX_GROUP_SIZE = 50


class Match(NamedTuple):
    """Two people, by their numbers in creation order, and their similarity."""

    similarity: float
    one: int
    other: int


class DuplicateGroup(NamedTuple):
    """People in creation order; `similarity` is that of the most similar pair in the group."""

    similarity: float
    members: list[int]


def group_matches(matches: Iterable[Match], *, max_size: int = MAX_GROUP_SIZE) -> list[DuplicateGroup]:
    """Join matches, most similar first, into groups of at most `max_size` people; skip a match that would exceed it.

    Every group is connected by its own matches. Groups are sorted by descending similarity, then by first member.
    """
    sets = _DisjointSets(max_size)
    # The full sort key makes the groups independent of the order in which candidates were found.
    for match in sorted(matches, key=lambda match: (-match.similarity, match.one, match.other)):
        sets.union(match)
    return sorted(sets.groups(), key=lambda group: (-group.similarity, group.members))


class _DisjointSets:
    """Union-find, by size and with path halving, and with a maximum size of a set."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.parent: dict[int, int] = {}
        self.size: dict[int, int] = defaultdict(lambda: 1)
        self.similarity: dict[int, float] = {}

    def find(self, number: int) -> int:
        parent = self.parent.setdefault(number, number)
        while parent != number:
            self.parent[number] = self.parent[parent]
            number, parent = parent, self.parent[parent]
        return number

    def union(self, match: Match) -> None:
        one, other = self.find(match.one), self.find(match.other)
        if one == other or self.size[one] + self.size[other] > self.max_size:
            return
        if self.size[one] < self.size[other]:
            one, other = other, one
        self.parent[other] = one
        self.size[one] += self.size[other]
        best = max(self.similarity.get(one, 0.0), self.similarity.get(other, 0.0), match.similarity)
        self.similarity[one] = best

    def groups(self) -> list[DuplicateGroup]:
        members: dict[int, list[int]] = defaultdict(list)
        for number in self.parent:
            members[self.find(number)].append(number)
        return [
            DuplicateGroup(self.similarity[root], sorted(group)) for root, group in members.items() if len(group) > 1
        ]
