"""Which of an account's writes were those of one import: all others are somebody's."""

from bisect import bisect_right
from collections.abc import Sequence


class OwnWrites:
    """Revisions, as ContactImport.own_revisions has them: `[[first, last], ...]`, in order and without gaps inside."""

    def __init__(self, ranges: Sequence[Sequence[int]]) -> None:
        self.ranges = [[first, last] for first, last in ranges]

    def __contains__(self, revision: object) -> bool:
        if not isinstance(revision, int):
            return False
        place = bisect_right(self.ranges, revision, key=lambda pair: pair[0]) - 1
        return place >= 0 and revision <= self.ranges[place][1]

    @property
    def since(self) -> int:
        """The revision before its first write."""
        return self.ranges[0][0] - 1 if self.ranges else 0

    def add(self, revision: int) -> None:
        """A write that is later than those before."""
        if self.ranges and revision == self.ranges[-1][1] + 1:
            self.ranges[-1][1] = revision
        elif revision not in self:
            self.ranges.append([revision, revision])
