"""Waiting for other servers without occupying a thread.

For each request the web server sets `release_thread` (server.thread_queues), and a worker for each task
(processes.queue_pool): while its thread waits, another request or task runs in its place. In other processes, and
inside another `external_wait`, nothing happens. Few may wait at a time, so that an account has only some of the places.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore

release_thread: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "release_thread", default=None
)
account_of_request: ContextVar[Hashable | None] = ContextVar("account_of_request", default=None)
"""The account that has sent the request, once it is known."""


class TooManyExternalWaitsError(Exception):
    """The limit of requests that wait for other servers is reached."""


_WAITS = LIMITS["requests that wait for other servers"]  # that accounts have named; server.thread_queues limits all
MAX_WAITS_OF_ACCOUNT = int(_WAITS.per_key)
_waits = FairSemaphore[Hashable](_WAITS, TooManyExternalWaitsError)


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
    with _waits.hold(account), release():
        # A nested external_wait must not release the thread again.
        token = release_thread.set(None)
        try:
            yield
        finally:
            release_thread.reset(token)
