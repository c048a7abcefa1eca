"""Limits on heavy operations that run in one process at the same time, so that threads are left for other requests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contacts_project.kernel.errors import UnavailableError


class Slots:
    """`number` slots. Up to `waiting` callers wait up to `seconds` for one; others get UnavailableError at once."""

    def __init__(self, number: int, *, waiting: int, seconds: float, message: str) -> None:
        self.seconds, self.message = seconds, message
        self._free = threading.BoundedSemaphore(number)
        self._waiting = threading.BoundedSemaphore(waiting)

    @contextmanager
    def acquire(self, *, wait_forever: bool = False) -> Iterator[None]:
        """Hold a slot for the length of the block. Raises UnavailableError.

        With `wait_forever` it never does; for callers whose number is limited elsewhere.
        """
        if wait_forever:
            self._free.acquire()
        elif not self._free.acquire(blocking=False):
            self._wait()
        try:
            yield
        finally:
            self._free.release()

    def _wait(self) -> None:
        if not self._waiting.acquire(blocking=False):
            raise self._unavailable_error()
        try:
            if not self._free.acquire(timeout=self.seconds):
                raise self._unavailable_error()
        finally:
            self._waiting.release()

    def _unavailable_error(self) -> UnavailableError:
        return UnavailableError(self.message, retry_after=10)


IMPORT_SLOTS = Slots(
    2, waiting=1, seconds=5, message="Other imports are under way. Nothing was changed: try again in a few seconds."
)
