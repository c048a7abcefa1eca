"""Waiting for other servers without occupying a thread of the web server.

For each request the web server sets `release_thread` (server.thread_queues): while the thread of the request waits,
another request runs in its place. In other processes, and inside another `external_wait`, nothing happens.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

release_thread: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "release_thread", default=None
)


class TooManyExternalWaitsError(Exception):
    """The limit of requests that wait for other servers is reached."""


@contextmanager
def external_wait() -> Iterator[None]:
    """Wrap code that waits for the network. Raises TooManyExternalWaitsError, a 503, before the block runs."""
    release = release_thread.get()
    if release is None:
        yield
        return
    with release():
        # A nested external_wait must not release the thread again.
        token = release_thread.set(None)
        try:
            yield
        finally:
            release_thread.reset(token)
