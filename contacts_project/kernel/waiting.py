"""Waiting for somebody else's server without keeping others from being served.

The web server says for each request what is to be done while its thread waits (server.thread_queues): another
request runs in its stead. In other processes, and where a wait is part of one already, nothing is done.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

step_aside: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar("step_aside", default=None)


class TooManyWaitError(Exception):
    """As many requests as may wait for other servers do so already."""


@contextmanager
def waiting() -> Iterator[None]:
    """Around what waits for the network. Raises TooManyWaitError before anything is done: a 503 with Retry-After."""
    aside = step_aside.get()
    if aside is None:
        yield
        return
    with aside():
        token = step_aside.set(None)
        try:
            yield
        finally:
            step_aside.reset(token)
