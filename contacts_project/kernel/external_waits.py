"""Waiting for other servers without occupying a thread.

For each request the web server sets `release_thread` (server.thread_queues), and a worker for each task
(processes.queue_pool): while its thread waits, another request or task runs in its place. In other processes, and
inside another `external_wait`, nothing happens. Few may wait at a time, so that an account has only some of the places.
"""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

release_thread: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "release_thread", default=None
)
account_of_request: ContextVar[Hashable | None] = ContextVar("account_of_request", default=None)
"""The account that has sent the request, once it is known."""
# Requests of an account that may wait for servers which it has named; of all accounts 32 may (server.thread_queues).
MAX_WAITS_OF_ACCOUNT = 4


class TooManyExternalWaitsError(Exception):
    """The limit of requests that wait for other servers is reached."""


class _WaitsByAccount:
    """The requests of this process that wait, by account."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Counter[Hashable] = Counter()

    @contextmanager
    def count(self, account: Hashable) -> Iterator[None]:
        with self._lock:
            if self._numbers[account] >= MAX_WAITS_OF_ACCOUNT:
                raise TooManyExternalWaitsError
            self._numbers[account] += 1
        try:
            yield
        finally:
            with self._lock:
                self._numbers[account] -= 1
                if not self._numbers[account]:
                    del self._numbers[account]


_waits_by_account = _WaitsByAccount()


@contextmanager
def external_wait(*, is_own_server: bool = False) -> Iterator[None]:
    """Wrap code that waits for the network. Raises TooManyExternalWaitsError, a 503, before the block runs.

    `is_own_server`: the operator has named the server, so that no account has to share it with itself.
    """
    release = release_thread.get()
    if release is None:
        yield
        return
    account = None if is_own_server else account_of_request.get()
    with nullcontext() if account is None else _waits_by_account.count(account), release():
        # A nested external_wait must not release the thread again.
        token = release_thread.set(None)
        try:
            yield
        finally:
            release_thread.reset(token)
