"""Which pairs are worth comparing, near-linear in the number of people: only those that share a block.

A block holds the people of one key. Within a small block everybody is compared with everybody. A block that is too
large (everybody called Smith) is put in order of the name, once from either end, and each person is compared with the
next few alone: so the pairs of a block are at most `2 * WINDOW` for each of its people, however common its key.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

LARGEST_BLOCK = 2 * 7 + 1
WINDOW = 7


class Blocks:
    """People, by their number, under the keys they have."""

    def __init__(self) -> None:
        self._members: dict[Hashable, list[int]] = defaultdict(list)

    def add(self, key: Hashable, number: int) -> None:
        self._members[key].append(number)

    def extend(self, keys: Iterable[Hashable], number: int) -> None:
        for key in keys:
            self._members[key].append(number)

    def pairs(self, orders: Sequence[Sequence[Any]]) -> Iterator[tuple[int, int]]:
        """Every candidate pair once, the smaller number first. `orders`: sort keys by number, for large blocks."""
        seen: set[int] = set()  # of a million pairs: numbers take half the room of tuples
        size = 1 + max((max(members) for members in self._members.values()), default=0)
        for members in self._members.values():
            if len(members) < 2:
                continue
            found = combinations(members, 2) if len(members) <= LARGEST_BLOCK else _neighbours(members, orders)
            for one, other in found:
                code = one * size + other
                if code not in seen:
                    seen.add(code)
                    yield one, other


def _neighbours(members: list[int], orders: Sequence[Sequence[Any]]) -> Iterator[tuple[int, int]]:
    for order in orders:
        line = sorted(members, key=lambda number: (order[number], number))
        for place, number in enumerate(line):
            for other in line[place + 1 : place + 1 + WINDOW]:
                yield (number, other) if number < other else (other, number)
