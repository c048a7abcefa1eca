"""How many requests of a heavy kind one process works on at a time, so that threads are left for all the others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contacts_project.kernel.errors import UnavailableError


class Slots:
    """`number` at a time; `waiting` more wait up to `seconds` for one of them; whoever comes then is refused."""

    def __init__(self, number: int, *, waiting: int, seconds: float, message: str) -> None:
        self.seconds, self.message = seconds, message
        self._free = threading.BoundedSemaphore(number)
        self._admitted = threading.BoundedSemaphore(waiting)

    @contextmanager
    def acquire(self, *, wait_forever: bool = False) -> Iterator[None]:
        """Hold a slot for as long as the block lasts. Raises UnavailableError, unless `wait_forever`: for those whose
        number is bounded elsewhere."""
        if wait_forever:
            self._free.acquire()
        elif not self._free.acquire(blocking=False):
            self._wait()
        try:
            yield
        finally:
            self._free.release()

    def _wait(self) -> None:
        if not self._admitted.acquire(blocking=False):
            raise self._refusal()
        try:
            if not self._free.acquire(timeout=self.seconds):
                raise self._refusal()
        finally:
            self._admitted.release()

    def _refusal(self) -> UnavailableError:
        return UnavailableError(self.message, retry_after=10)


IMPORT_SLOTS = Slots(
    2, waiting=1, seconds=5, message="Other imports are under way. Nothing was changed: try again in a few seconds."
)
