"""Groups of people who may be one: connected sets over pairs, the most similar pairs first."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

LARGEST_GROUP = 50


class Match(NamedTuple):
    """Two people, by their numbers in creation order, and how similar they are."""

    similarity: float
    one: int
    other: int


class DuplicateGroup(NamedTuple):
    """People in creation order; `similarity` is that of the most similar pair among them."""

    similarity: float
    members: list[int]


def group_matches(matches: Iterable[Match], *, largest: int = LARGEST_GROUP) -> list[DuplicateGroup]:
    """Join matches, most similar first, into groups of at most `largest`; a match that would exceed it joins nothing.

    Every group is connected by matches inside it. Groups come most similar first, then by their first member.
    """
    groups = _Union(largest)
    for match in sorted(matches, key=lambda match: (-match.similarity, match.one, match.other)):
        groups.join(match)
    return sorted(groups.found(), key=lambda group: (-group.similarity, group.members))


class _Union:
    """Disjoint sets with a bound on their size."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.parent: dict[int, int] = {}
        self.size: dict[int, int] = defaultdict(lambda: 1)
        self.similarity: dict[int, float] = {}

    def root(self, number: int) -> int:
        parent = self.parent.setdefault(number, number)
        while parent != number:
            self.parent[number] = self.parent[parent]
            number, parent = parent, self.parent[parent]
        return number

    def join(self, match: Match) -> None:
        one, other = self.root(match.one), self.root(match.other)
        if one == other or self.size[one] + self.size[other] > self.largest:
            return
        if self.size[one] < self.size[other]:
            one, other = other, one
        self.parent[other] = one
        self.size[one] += self.size[other]
        best = max(self.similarity.get(one, 0.0), self.similarity.get(other, 0.0), match.similarity)
        self.similarity[one] = best

    def found(self) -> list[DuplicateGroup]:
        members: dict[int, list[int]] = defaultdict(list)
        for number in self.parent:
            members[self.root(number)].append(number)
        return [
            DuplicateGroup(self.similarity[root], sorted(group)) for root, group in members.items() if len(group) > 1
        ]
