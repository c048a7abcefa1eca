"""A set of revisions: those that one import wrote."""

from bisect import bisect_right
from collections.abc import Sequence


class RevisionSet:
    """A set of revisions, stored as sorted inclusive ranges `[[first, last], ...]` (ContactImport.own_revisions)."""

    def __init__(self, ranges: Sequence[Sequence[int]]) -> None:
        self.ranges = [[first, last] for first, last in ranges]

    def __contains__(self, revision: object) -> bool:
        if not isinstance(revision, int):
            return False
        index = bisect_right(self.ranges, revision, key=lambda pair: pair[0]) - 1
        return index >= 0 and revision <= self.ranges[index][1]

    @property
    def since(self) -> int:
        """The revision before the first range, or 0 without ranges."""
        return self.ranges[0][0] - 1 if self.ranges else 0

    def add(self, revision: int) -> None:
        """Add a revision that is higher than all before."""
        if self.ranges and revision == self.ranges[-1][1] + 1:
            self.ranges[-1][1] = revision
        elif revision not in self:
            self.ranges.append([revision, revision])
