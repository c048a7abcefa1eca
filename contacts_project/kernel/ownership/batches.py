"""Long writes in batches, which leave others their share of the database."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error

from contacts_project.kernel.database.statistics import analyze_tables
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.unavailable import is_unavailable


class StoppedError(Exception):
    """The database went away, or a disk is full, when some batches had been written: the rest was not."""


# From so many batches on, of a hundred rows or more each, the planner is told of them.
_MANY_BATCHES = 5


class _Pace:
    """One batch at a time in this process, and after each the database to the others for as long as it took.

    SQLite gives its lock to whoever asks at the right moment, not to who has waited longest: without a gap one writer
    that comes back at once, or two in turn, keep the others out.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_at = 0.0

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock:
            time.sleep(max(0.0, self._next_at - time.monotonic()))
            began = time.monotonic()
            try:
                yield
            finally:
                ended = time.monotonic()
                self._next_at = ended + (ended - began)


_pace = _Pace()


class BatchWriter:
    """The batches of one long write, each in a transaction of its own."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self._has_stopped = False
        self._batches = 0

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around the work on a batch, its files included. Raises StoppedError in the place of what is_unavailable says
        so of, once there is something that a plain 503 would deny; then, and ever after."""
        if self._has_stopped:
            raise StoppedError
        try:
            yield
        except (Error, OSError) as error:
            self._has_stopped = self._batches > 0 and is_unavailable(error)
            if self._has_stopped:
                raise StoppedError from error
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The transaction, with the account locked; an account_write inside makes it a change of the account."""
        with _pace.batch(), account_lock(self.owner):
            yield
        # After the commit: what failed before it left nothing that a plain 503 would deny.
        self._batches += 1

    def finish(self) -> None:
        """After the last batch: the planner is told of what was written, if it was much."""
        if self._batches >= _MANY_BATCHES and not self._has_stopped:
            analyze_tables()
