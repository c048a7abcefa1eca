"""Waiting for somebody else's server without keeping others from being served.

The web server says for each request what is to be done while its thread waits (server.thread_queues): another
request runs in its stead. In other processes, and where a wait is part of one already, nothing is done.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

release_thread: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "release_thread", default=None
)


class TooManyExternalWaitsError(Exception):
    """As many requests as may wait for other servers do so already."""


@contextmanager
def external_wait() -> Iterator[None]:
    """Around what waits for the network. Raises TooManyExternalWaitsError, a 503, before anything is done."""
    released = release_thread.get()
    if released is None:
        yield
        return
    with released():
        token = release_thread.set(None)
        try:
            yield
        finally:
            release_thread.reset(token)
