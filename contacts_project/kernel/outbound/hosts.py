"""How much one host gets of us: calls at once from this process, and calls in a second from all of them.

It counts for whoever asks for it (`limited_hosts`): deliveries, of which thousands may be due at the same moment.
"""

import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django_ratelimit.core import get_usage

# How long a call waits for another to end: a host that answers has ended one by then, a slow one must not keep threads.
_PATIENCE_SECONDS = 0.05
_PAUSE_SECONDS, _MOST_PAUSES = 0.1, 150
_is_limited: ContextVar[bool] = ContextVar("outbound_hosts_limited", default=False)


class HostBusyError(Exception):
    """The host has as much of us as it may have; nothing was sent. No OutboundError: nothing failed."""

    def __init__(self, host: str) -> None:
        super().__init__("The host has as much of us as it may have.")
        self.host = host


class HostCalls:
    """The calls that this process has under way, by host. `threads` is how many threads make them, 0: not known."""

    def __init__(self) -> None:
        self.threads = 0
        self._ended = threading.Condition()
        self._under_way: Counter[str] = Counter()

    def max_calls(self) -> float:
        """At once to one host. By default three quarters of the threads, so that some are left for other hosts."""
        share = max(1, self.threads * 3 // 4) if self.threads else math.inf
        return settings.OUTBOUND_CALLS_PER_HOST or share

    def has_room(self, host: str) -> bool:
        return self._under_way[host] < self.max_calls()

    @contextmanager
    def call(self, host: str) -> Iterator[None]:
        """Around one call. Raises HostBusyError before anything is sent."""
        with self._ended:
            if not self._ended.wait_for(lambda: self.has_room(host), _PATIENCE_SECONDS):
                raise HostBusyError(host)
            self._under_way[host] += 1
        try:
            _wait_for_rate(host)
            yield
        finally:
            with self._ended:
                self._under_way[host] -= 1
                if not self._under_way[host]:
                    del self._under_way[host]
                self._ended.notify_all()


HOST_CALLS = HostCalls()


@contextmanager
def limited_hosts() -> Iterator[None]:
    """Calls made in it keep to what one host may have. They raise HostBusyError."""
    token = _is_limited.set(True)
    try:
        yield
    finally:
        _is_limited.reset(token)


@contextmanager
def host_call(host: str) -> Iterator[None]:
    """Around every call of a session; limited only inside `limited_hosts`. Raises HostBusyError."""
    if not _is_limited.get():
        yield
        return
    with HOST_CALLS.call(host):
        yield


def _wait_for_rate(host: str) -> None:
    """Until the second has room for one more call; the count is in the cache, so that it is that of all processes."""
    if not (rate := settings.OUTBOUND_CALLS_PER_SECOND):
        return
    for _ in range(_MOST_PAUSES):
        try:
            usage = get_usage(None, group="outbound.host", key=lambda *_: host, rate=f"{rate}/s", increment=True)
        except Exception as error:
            if _is_of_redis(error):
                return  # a cache that is away keeps no reminder
            raise
        if not usage or not usage["should_limit"]:
            return
        time.sleep(_PAUSE_SECONDS)
    raise HostBusyError(host)


def _is_of_redis(error: Exception) -> bool:
    redis = sys.modules.get(
        "redis.exceptions"
    )  # not imported where there is none: it takes memory, and time of each start
    return redis is not None and isinstance(error, redis.RedisError)
