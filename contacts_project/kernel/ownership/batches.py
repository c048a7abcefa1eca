"""Long writes in batches, which leave others their share of the database."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error

from contacts_project.kernel.api.unavailable import is_unavailable
from contacts_project.kernel.ownership.writing import account_pause


class StoppedError(Exception):
    """The database went away, or a disk is full, when some batches had been written: the rest was not."""


class BatchWriter:
    """One transaction a batch; after each the lock is free for as long as it was held.

    SQLite gives its lock to whoever asks at the right moment, not to who has waited longest: without a gap one writer
    that comes back at once keeps the others out.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self._free_until = 0.0
        self._has_written = self._has_stopped = False

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around the work on a batch, its files included. Raises StoppedError in the place of what is_unavailable says
        so of, once there is something that a plain 503 would deny; then, and ever after."""
        if self._has_stopped:
            raise StoppedError
        try:
            yield
        except (Error, OSError) as error:
            self._has_stopped = self._has_written and is_unavailable(error)
            if self._has_stopped:
                raise StoppedError from error
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The transaction, with the account locked; an account_write inside makes it a change of the account."""
        time.sleep(max(0.0, self._free_until - time.monotonic()))
        with account_pause(self.owner):
            began = time.monotonic()
            yield
        ended = time.monotonic()
        self._free_until = ended + (ended - began)
        self._has_written = True
