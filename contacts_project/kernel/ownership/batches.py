"""Long writes in batches, so that other writers of the database get their turn."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import Error
from django.db.models import Model

from contacts_project.kernel.database.statistics import analyze_tables
from contacts_project.kernel.errors import UnavailableError, is_unavailable
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.texts import define_text

_IMPORTS_BUSY = define_text(
    "imports_busy", "Other imports are under way. Nothing was changed: try again in a few seconds."
)
IMPORTS = FairSemaphore[UUID | None](LIMITS["imports"], lambda _: UnavailableError(_IMPORTS_BUSY, retry_after=10))


class StoppedError(Exception):
    """The database became unavailable, or the disk is full, after some batches were committed. The rest is missing."""


# A write of this many batches, each of a hundred rows or more, ends with new statistics for the planner.
_ANALYZE_THRESHOLD = 5


class _Throttle:
    """Runs one batch at a time in this process, then leaves the database to others for as long as the batch took.

    Accounts take turns.

    SQLite's waiters poll for its write lock, so it goes to whoever asks at the right moment and not to the longest
    waiter. Without a gap one writer that returns at once, or two that alternate, would starve all others.
    """

    def __init__(self) -> None:
        self._batches = FairSemaphore[UUID](LIMITS["batches of long writes"])
        self._next_at = 0.0

    @contextmanager
    def batch(self, account: UUID) -> Iterator[None]:
        with self._batches.hold(account):
            time.sleep(max(0.0, self._next_at - time.monotonic()))
            start = time.monotonic()
            try:
                yield
            finally:
                end = time.monotonic()
                self._next_at = end + (end - start)


_throttle = _Throttle()


class BatchWriter:
    """The batches of one long write, each in a transaction of its own."""

    def __init__(self, owner: Model | UUID) -> None:
        self.owner = owner
        self._has_stopped = False
        self._committed_batches = 0

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Wrap all work on one batch, including its files.

        Once a batch is committed, an error of an unavailable service (`is_unavailable`) becomes StoppedError, and every
        later attempt raises StoppedError too. Before that the error passes unchanged, and the API answers 503.
        """
        if self._has_stopped:
            raise StoppedError
        try:
            yield
        except (Error, OSError) as error:
            # A 503 would promise that nothing was written.
            self._has_stopped = self._committed_batches > 0 and is_unavailable(error)
            if self._has_stopped:
                raise StoppedError from error
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The transaction of one batch, with the account locked. An account_write inside joins it."""
        # The lock of the process comes first: while it waits, no transaction is open.
        account = self.owner.pk if isinstance(self.owner, Model) else self.owner
        with _throttle.batch(account), account_lock(self.owner):
            yield
        # Counted after the commit, since a batch that failed wrote nothing.
        self._committed_batches += 1

    def finish(self) -> None:
        """Call after the last batch: update the planner's statistics if many rows were written."""
        if self._committed_batches >= _ANALYZE_THRESHOLD and not self._has_stopped:
            analyze_tables()
