"""Semaphores that are fair between keys, such as accounts or hosts, and the table of all limits on what is under way.

docs/fairness.md has the same table, and says which shared things are no FairSemaphore, though their limits are in it.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class SemaphoreLimits:
    """How many places there are, in all and of one key, how many callers may wait for one, and for how long."""

    key: str
    """What a key is."""
    total: float = inf
    per_key: float = inf
    waiting: float = inf
    waiting_per_key: float = inf
    seconds: float = 0.0


LIMITS = {
    "imports": SemaphoreLimits(key="account", total=2, per_key=1, waiting=3, waiting_per_key=1, seconds=5),
    "large pictures": SemaphoreLimits(key="account", total=1, waiting=4, waiting_per_key=2, seconds=20),
    "batches of long writes": SemaphoreLimits(key="account", total=1, seconds=inf),
    "atomic batches on SQLite": SemaphoreLimits(key="account", per_key=1, waiting_per_key=8, seconds=20),
    "exchanges with other servers": SemaphoreLimits(key="account", per_key=2, seconds=10),
    # Half of the threads that may wait for them (processes.queue_pool): the other half is there for accounts that are
    # not known to be slow. Any delivery waits no longer than this for a place of its account.
    "deliveries of slow accounts": SemaphoreLimits(key="account", total=24, seconds=0.05),
    "calls to a host": SemaphoreLimits(key="host", seconds=0.05),  # HostCalls computes the limit of a host
    "requests that wait for other servers": SemaphoreLimits(key="account", per_key=4),
    # Of a web process. In progress is a request from getting a thread until the last byte of the response was read. So
    # a caller who sends a thousand requests and never reads delays only itself. One address may be many users: the
    # lower limit of a path leaves room for requests to other paths.
    "requests": SemaphoreLimits(key="caller", per_key=24, seconds=60),
    "requests to one path": SemaphoreLimits(key="caller and path", per_key=8),
    # Waiting ones included. A credential may be made up, and accounts are made in a row: without this limit, each would
    # have a turn of its own.
    "requests of an address": SemaphoreLimits(key="address", per_key=240),
    # Each takes memory in proportion to its account, and of what eight take together the allocator cannot return all:
    # small objects lie between. More would not be faster, as they wait for each other's GIL. After the wait they run
    # anyway: on a slow machine, late is better than refused.
    "large requests": SemaphoreLimits(key="caller and path", total=2, seconds=10),
    # Each keeps an idle thread.
    "threads that wait for other servers": SemaphoreLimits(key="process", total=32),
    "threads that wait for readers": SemaphoreLimits(key="caller", total=16),
    # Many devices and windows, but no large part of the connections of a process.
    "event streams": SemaphoreLimits(key="caller", per_key=100),
    "event streams of an address": SemaphoreLimits(key="address", per_key=1000),
    "long answers to assistants": SemaphoreLimits(key="process", total=2, seconds=inf),
}


class NoPlaceError(Exception):
    """All places are held, and too many wait, or none became free in time. The argument is the key."""


@dataclass(eq=False, slots=True)
class _Waiter:
    is_bounded: bool
    has_place: threading.Event = field(default_factory=threading.Event)


class FairSemaphore(Generic[K]):
    """Places that threads hold for a key, up to `limits`; beyond them a caller waits, or gets the error of `refuse`.

    Whoever gives a place back hands it to a waiting caller: keys take turns, and of a key the caller that has waited
    longest is next. So nobody who comes later goes first. The key None belongs to nobody, and no limit of a key applies
    to it. A wait without an end (`math.inf` seconds) is for callers whose number is limited elsewhere: it counts for no
    limit of those who wait.
    """

    def __init__(self, limits: SemaphoreLimits, refuse: Callable[[K], Exception] = NoPlaceError) -> None:
        self.limits, self._refuse = limits, refuse
        self._lock = threading.Lock()
        self._held: Counter[K] = Counter()
        self._number_held = 0
        self._waiters: dict[K, deque[_Waiter]] = {}  # the key whose turn is next comes first

    def limit_of(self, key: K) -> float:
        """How many places the key may hold."""
        return self.limits.per_key

    def has_place(self, key: K) -> bool:
        """Whether the key would get a place at once. Nobody waits for such a place: it would have been handed over."""
        is_below_its_limit = key is None or self._held[key] < self.limit_of(key)
        return is_below_its_limit and not self.is_full()

    def is_full(self) -> bool:
        """Whether all places are held, so that no key can get one."""
        return self._number_held >= self.limits.total

    def held(self, key: K) -> int:
        """How many places the key holds."""
        return self._held[key]

    def waiting(self, key: K) -> int:
        """How many callers wait for a place of the key."""
        return len(self._waiters.get(key, ()))

    @contextmanager
    def hold(self, key: K, seconds: float | None = None) -> Iterator[None]:
        """Hold a place for the length of the block. Raises the error of `refuse`."""
        self.acquire(key, seconds)
        try:
            yield
        finally:
            self.release(key)

    def try_acquire(self, key: K) -> bool:
        """Take a place without waiting; returns whether there was one."""
        with self._lock:
            return self._take(key)

    def acquire(self, key: K, seconds: float | None = None) -> None:
        """Take a place, waiting for one up to `seconds` (by default those of the limits)."""
        seconds = self.limits.seconds if seconds is None else seconds
        waiter = _Waiter(is_bounded=seconds < inf)
        with self._lock:
            if self._take(key):
                return
            if waiter.is_bounded and not self._may_wait(key):
                raise self._refuse(key)
            self._waiters.setdefault(key, deque()).append(waiter)
        try:
            waiter.has_place.wait(None if seconds == inf else seconds)
        except BaseException:
            if self._leave(key, waiter):
                self.release(key)
            raise
        if not self._leave(key, waiter):
            raise self._refuse(key)

    def release(self, key: K) -> None:
        """Give a place of the key back."""
        with self._lock:
            self._count(key, -1)
            self._hand_over()

    def _take(self, key: K) -> bool:
        has_place = self.has_place(key)
        if has_place:
            self._count(key, 1)
        return has_place

    def _may_wait(self, key: K) -> bool:
        numbers = {other: sum(waiter.is_bounded for waiter in waiters) for other, waiters in self._waiters.items()}
        if key is not None and numbers.get(key, 0) >= self.limits.waiting_per_key:
            return False
        return sum(numbers.values()) < self.limits.waiting

    def _leave(self, key: K, waiter: _Waiter) -> bool:
        """End a wait; returns whether the waiter has got a place, which may be after its time."""
        with self._lock:
            if waiter.has_place.is_set():
                return True
            self._waiters[key].remove(waiter)
            if not self._waiters[key]:
                del self._waiters[key]
            return False

    def _hand_over(self) -> None:
        while (key_and_waiters := self._next_in_turn()) is not None:
            key, waiters = key_and_waiters
            self._count(key, 1)
            waiters.popleft().has_place.set()
            # Removed and, with others that wait, added again as the last: keys take turns.
            del self._waiters[key]
            if waiters:
                self._waiters[key] = waiters

    def _next_in_turn(self) -> tuple[K, deque[_Waiter]] | None:
        return next(((key, waiters) for key, waiters in self._waiters.items() if self.has_place(key)), None)

    def _count(self, key: K, number: int) -> None:
        self._number_held += number
        self._held[key] += number
        # Counters keep zeros: keys that hold nothing any more would pile up.
        if not self._held[key]:
            del self._held[key]
