"""Budgets: so many of one thing, for one subject, in so many seconds. Counted in the cache that all processes share."""

import hashlib
import time
from dataclasses import dataclass

from django.core.cache import cache

from contacts_project.kernel.api.errors import RateLimitedError


@dataclass(frozen=True)
class Budget:
    """`limit` draws in `seconds`, from the first draw on. Draws that were refused do not prolong it."""

    name: str
    limit: int
    seconds: int

    def draw(self, subject: str) -> None:
        """Take one. Before the thing is done: calls at the same time cannot overdraw. Raises RateLimitedError."""
        key = self._key(subject)
        if cache.add(key, 0, self.seconds):
            cache.set(f"{key}:until", time.time() + self.seconds, self.seconds)
        if self._count(key) > self.limit:
            until: float = cache.get(f"{key}:until") or time.time() + self.seconds
            raise RateLimitedError(int(until - time.time()) + 1)

    def give_back(self, subject: str) -> None:
        """Return what was drawn: the thing turned out not to count."""
        try:
            cache.decr(self._key(subject))
        except ValueError:  # the time is over, and the count with it
            return

    def _count(self, key: str) -> int:
        try:
            return cache.incr(key)
        except ValueError:  # ended between add and incr
            cache.set(key, 1, self.seconds)
            return 1

    def _key(self, subject: str) -> str:
        return f"budget:{self.name}:{hashlib.sha256(subject.encode()).hexdigest()[:32]}"
