"""Limits per host: concurrent calls of this process, and calls per second of all processes.

They apply only inside `limited_hosts`, which the sender of deliveries uses: thousands may be due at the same time.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.conf import settings
from django_ratelimit.core import get_usage

from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore

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


class HostCalls(FairSemaphore[str]):
    """The calls of this process that are under way, by host. `threads` is the number of threads that make calls, 0 if
    unknown.

    A call waits a moment for another to end. A fast host has ended one by then; a slow one must not block the thread.
    """

    def __init__(self) -> None:
        super().__init__(LIMITS["calls to a host"], HostBusyError)
        self.threads = 0

    def limit_of(self, key: str) -> float:
        """By default three quarters of the threads; the rest serve other hosts."""
        share = max(1, self.threads * 3 // 4) if self.threads else self.limits.per_key
        return settings.OUTBOUND_CALLS_PER_HOST or share


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
    with HOST_CALLS.hold(host):
        _wait_for_rate(host)
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
