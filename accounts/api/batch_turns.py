"""Atomic batches of one account run one after the other, and pause between each other.

On SQLite such a batch holds the write lock of the whole database for up to five seconds. After it the account's next
one waits for as long as the last one held the lock, so that others have it at least half of the time. Counted in each
process; an instance on SQLite has one web process (docs/fairness.md).
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.texts import define_text

_BATCHES_UNDER_WAY = define_text(
    "batches_under_way",
    "Other batches of yours are under way. Nothing of this one was done: try again in a few seconds.",
)
MAX_WAITING, MAX_WAIT_SECONDS = 8, 20.0
_MAX_PAUSES = 1_000


@dataclass
class Turn:
    """One batch. It sets `held_seconds`, for how long it held the lock."""

    held_seconds: float = 0.0


class BatchTurns:
    """Which accounts have a batch under way, and until when the next one of an account waits."""

    def __init__(self) -> None:
        self._ended = threading.Condition()
        self._running: set[UUID] = set()
        self._waiting: Counter[UUID] = Counter()
        self._paused_until: dict[UUID, float] = {}

    @contextmanager
    def turn(self, account: UUID) -> Iterator[Turn]:
        """Wait for the account's turn. Raises UnavailableError if too many of its batches wait, or for too long."""
        if not self._try_begin(account):
            with external_wait():
                self._wait(account)
        turn = Turn()
        try:
            yield turn
        finally:
            self._end(account, turn)

    def _try_begin(self, account: UUID) -> bool:
        with self._ended:
            if account in self._running or self._pause_of(account) > 0:
                return False
            self._running.add(account)
            return True

    def _wait(self, account: UUID) -> None:
        give_up_at = time.monotonic() + MAX_WAIT_SECONDS
        with self._ended:
            if self._waiting[account] >= MAX_WAITING:
                raise UnavailableError(_BATCHES_UNDER_WAY)
            self._waiting[account] += 1
            try:
                while account in self._running or self._pause_of(account) > 0:
                    left = give_up_at - time.monotonic()
                    if left <= 0:
                        raise UnavailableError(_BATCHES_UNDER_WAY)
                    # With another batch under way its end wakes this one, and the pause then begins.
                    self._ended.wait(left if account in self._running else min(left, self._pause_of(account)))
                self._running.add(account)
            finally:
                self._waiting[account] -= 1
                if not self._waiting[account]:
                    del self._waiting[account]

    def _end(self, account: UUID, turn: Turn) -> None:
        with self._ended:
            self._running.discard(account)
            self._paused_until[account] = time.monotonic() + turn.held_seconds
            if len(self._paused_until) > _MAX_PAUSES:
                self._paused_until = {key: end for key, end in self._paused_until.items() if self._pause_of(key) > 0}
            self._ended.notify_all()

    def _pause_of(self, account: UUID) -> float:
        """The seconds that are left of the account's pause; not above 0 if there is none."""
        return self._paused_until.get(account, 0.0) - time.monotonic()


BATCH_TURNS = BatchTurns()
