"""Limits on heavy operations that run in one process at the same time, so that threads are left for other requests."""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.texts import Text, define_text

_IMPORTS_BUSY = define_text(
    "imports_busy", "Other imports are under way. Nothing was changed: try again in a few seconds."
)


class Slots:
    """`number` slots. Up to `waiting` callers wait up to `seconds` for one; others get UnavailableError at once.

    The requests of one account never hold all slots, unless there is one alone. Beyond that a single further request of
    the account may wait, in no place that others could have.
    """

    def __init__(self, number: int, *, waiting: int, seconds: float, message: Text) -> None:
        self.seconds, self.message = seconds, message
        self._free, self._free_places = number, waiting
        self._max_per_account = max(1, number - 1)
        self._changed = threading.Condition()
        self._held: Counter[Hashable] = Counter()  # by account
        self._waiting_for_itself: set[Hashable] = set()  # accounts

    @contextmanager
    def acquire(self, *, wait_forever: bool = False) -> Iterator[None]:
        """Hold a slot for the length of the block. Raises UnavailableError.

        With `wait_forever` it never does; for callers whose number is limited elsewhere.
        """
        account = account_of_request.get()
        with self._changed:
            if wait_forever:
                self._changed.wait_for(lambda: self._free > 0)
            elif not self._is_free_for(account):
                self._wait(account)
            self._change(account, 1)
        try:
            yield
        finally:
            with self._changed:
                self._change(account, -1)
                self._changed.notify_all()

    def _is_free_for(self, account: Hashable | None) -> bool:
        return self._free > 0 and not self._has_its_share(account)

    def _has_its_share(self, account: Hashable | None) -> bool:
        return account is not None and self._held[account] >= self._max_per_account

    def _wait(self, account: Hashable | None) -> None:
        if self._has_its_share(account):
            if account in self._waiting_for_itself:
                raise self._unavailable_error()
            self._waiting_for_itself.add(account)
            try:
                self._wait_until_free(account)
            finally:
                self._waiting_for_itself.discard(account)
            return
        if not self._free_places:
            raise self._unavailable_error()
        self._free_places -= 1
        try:
            self._wait_until_free(account)
        finally:
            self._free_places += 1

    def _wait_until_free(self, account: Hashable | None) -> None:
        if not self._changed.wait_for(lambda: self._is_free_for(account), self.seconds):
            raise self._unavailable_error()

    def _change(self, account: Hashable | None, number: int) -> None:
        self._free -= number
        self._held[account] += number
        if not self._held[account]:
            del self._held[account]

    def _unavailable_error(self) -> UnavailableError:
        return UnavailableError(self.message, retry_after=10)


IMPORT_SLOTS = Slots(2, waiting=1, seconds=5, message=_IMPORTS_BUSY)
