"""Candidate pairs: people who share a blocking key. The number of pairs grows nearly linearly with the people.

A block holds the people of one key. In a small block all pairs are candidates. A large block (everybody called Smith)
uses the sorted neighbourhood method: it is sorted by given name and by family name, and each person is paired with the
next `WINDOW` people of either order. So a block of n people yields at most `2 * WINDOW * n` pairs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

WINDOW = 7
# Up to this size, all pairs are no more than the windows of two orders would yield.
MAX_EXHAUSTIVE_BLOCK = 2 * WINDOW + 1


SortKey: TypeAlias = tuple[str | int, ...] | str


class Blocks:
    """People, identified by their number, by blocking key."""

    def __init__(self) -> None:
        self._members: dict[Hashable, list[int]] = defaultdict(list)

    def add(self, key: Hashable, number: int) -> None:
        self._members[key].append(number)

    def extend(self, keys: Iterable[Hashable], number: int) -> None:
        for key in keys:
            self._members[key].append(number)

    def pairs(self, sort_keys: Sequence[Sequence[SortKey]]) -> Iterator[tuple[int, int]]:
        """Every candidate pair once, the smaller number first. `sort_keys`: for each order, the key by number."""
        # A pair is encoded as one integer: there may be a million pairs, and tuples take twice the memory.
        seen: set[int] = set()
        size = 1 + max((max(members) for members in self._members.values()), default=0)
        for members in self._members.values():
            if len(members) < 2:
                continue
            is_small = len(members) <= MAX_EXHAUSTIVE_BLOCK
            pairs = combinations(members, 2) if is_small else _pairs_in_window(members, sort_keys)
            for one, other in pairs:
                code = one * size + other
                if code not in seen:
                    seen.add(code)
                    yield one, other


def _pairs_in_window(members: list[int], sort_keys: Sequence[Sequence[SortKey]]) -> Iterator[tuple[int, int]]:
    for keys in sort_keys:
        ordered = sorted(members, key=lambda number: (keys[number], number))
        for position, number in enumerate(ordered):
            for other in ordered[position + 1 : position + 1 + WINDOW]:
                yield (number, other) if number < other else (other, number)
