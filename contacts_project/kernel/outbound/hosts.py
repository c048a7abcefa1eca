"""Limits per host: concurrent calls of this process, and calls per second of all processes.

They apply only inside `limited_hosts`, which the sender of deliveries uses: thousands may be due at the same time.
"""

import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.conf import settings
from django_ratelimit.core import get_usage

# How long a call waits for another to end. A fast host has ended one by then; a slow one must not block the thread.
_MAX_WAIT_SECONDS = 0.05
_RATE_RETRY_SECONDS, _MAX_RATE_RETRIES = 0.1, 150
_is_limited: ContextVar[bool] = ContextVar("outbound_hosts_limited", default=False)


class BusyError(Exception):
    """A limit of concurrent calls is reached; nothing was sent. Not an OutboundError, because no request failed.

    `key` is what has reached its limit: a host, or the id of an account.
    """

    key: str | UUID


class HostBusyError(BusyError):
    """The host has reached its limit of calls."""

    def __init__(self, host: str) -> None:
        super().__init__("The host has as much of us as it may have.")
        self.key = host


class HostCalls:
    """The active calls of this process, by host. `threads` is the number of threads that make calls, 0 if unknown."""

    def __init__(self) -> None:
        self.threads = 0
        self._call_ended = threading.Condition()
        self._active: Counter[str] = Counter()

    def max_calls(self) -> float:
        """Concurrent calls to one host. By default three quarters of the threads; the rest serve other hosts."""
        share = max(1, self.threads * 3 // 4) if self.threads else math.inf
        return settings.OUTBOUND_CALLS_PER_HOST or share

    def has_room(self, host: str) -> bool:
        return self._active[host] < self.max_calls()

    @contextmanager
    def call(self, host: str) -> Iterator[None]:
        """Count one call for the length of the block. Raises HostBusyError before anything is sent."""
        with self._call_ended:
            if not self._call_ended.wait_for(lambda: self.has_room(host), _MAX_WAIT_SECONDS):
                raise HostBusyError(host)
            self._active[host] += 1
        try:
            _wait_for_rate(host)
            yield
        finally:
            with self._call_ended:
                self._active[host] -= 1
                if not self._active[host]:
                    del self._active[host]  # the counter must not grow with every host ever called
                self._call_ended.notify_all()


HOST_CALLS = HostCalls()


@contextmanager
def limited_hosts() -> Iterator[None]:
    """Apply the limits per host to calls inside the block. They raise HostBusyError."""
    token = _is_limited.set(True)
    try:
        yield
    finally:
        _is_limited.reset(token)


@contextmanager
def host_call(host: str) -> Iterator[None]:
    """Wraps every call of a session; limits it only inside `limited_hosts`. Raises HostBusyError."""
    if not _is_limited.get():
        yield
        return
    with HOST_CALLS.call(host):
        yield


def _wait_for_rate(host: str) -> None:
    """Wait until the current second has room for one more call. The cache counts the calls of all processes."""
    if not (rate := settings.OUTBOUND_CALLS_PER_SECOND):
        return
    for _ in range(_MAX_RATE_RETRIES):
        try:
            usage = get_usage(None, group="outbound.host", key=lambda *_: host, rate=f"{rate}/s", increment=True)
        except Exception as error:
            # Where Redis is not used it is not imported: that takes memory, and time at each start.
            redis = sys.modules.get("redis.exceptions")
            if redis is not None and isinstance(error, redis.RedisError):
                return  # reminders are sent without the limit rather than not at all
            raise
        if not usage or not usage["should_limit"]:
            return
        time.sleep(_RATE_RETRY_SECONDS)
    raise HostBusyError(host)
