"""The nearest of many things that are computed one by one, in memory for those alone."""

from bisect import insort
from operator import itemgetter
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Nearest(Generic[T]):
    """Keeps the `limit` items with the smallest keys of all that are offered; no two keys may be equal."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[Any, T]] = []  # in order, with one more than the limit, which decides `has_more`

    def is_beyond(self, start_of_key: Any) -> bool:
        """Whether an item whose key is `start_of_key` or greater would not be kept: its producer may stop.

        It then counts as offered: `has_more` is true already.
        """
        return len(self._kept) > self._limit and bool(self._kept[-1][0] < start_of_key)

    def offer(self, key: Any, item: T) -> None:
        if not self.is_beyond(key):
            insort(self._kept, (key, item), key=itemgetter(0))
            del self._kept[self._limit + 1 :]

    @property
    def has_more(self) -> bool:
        """Whether more items were offered than are kept."""
        return len(self._kept) > self._limit

    def items(self) -> list[T]:
        """The kept items, in the order of their keys."""
        return [item for _, item in self._kept[: self._limit]]
