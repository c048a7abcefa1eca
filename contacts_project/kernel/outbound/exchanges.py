"""The limits of calls to other servers, of an account and of a host.

Servers that users name (webhooks, ntfy, push services, address books, pictures in cards) may be slow, or slow on
purpose, and each exchange holds a thread. So an account has at most two exchanges at a time, over all its hosts and
kinds, on this machine. `exchanges_of` names the account for the calls inside its block, and `Rules.exchanges` for those
of a session. What no account has named, such as the geocoder or the OIDC provider, is not limited so.

Of a host there are limits of the concurrent calls of this process, and of the calls per second of all processes. They
apply only inside `limited_hosts`, which the sender of deliveries uses: thousands may be due at the same time.
"""

import fcntl
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django_ratelimit.core import get_usage

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.texts import define_text

_TWO_UNDER_WAY = define_text(
    "exchanges_under_way",
    "Two requests to your servers are under way already. Nothing was sent: try again in a few seconds.",
)
_PLACES, _SLOW_PLACES = LIMITS["exchanges with other servers"], LIMITS["deliveries of slow accounts"]
MAX_EXCHANGES, MAX_SLOW_DELIVERIES = int(_PLACES.per_key), int(_SLOW_PLACES.total)
SLOW_SECONDS = 2.0
# How often a waiting call looks whether another process has ended an exchange of the account.
_POLL_SECONDS = 0.1
_MAX_KNOWN_SLOW, _MAX_KNOWN_FAST = 10_000, 50_000
# Twice this is the highest offset that every system can lock.
_MAX_OFFSETS = 2**61
_RATE_RETRY_SECONDS, _MAX_RATE_RETRIES = 0.1, 150
_is_limited: ContextVar[bool] = ContextVar("outbound_hosts_limited", default=False)


class CallLimitError(Exception):
    """A limit of concurrent calls is reached; nothing was sent. Not an OutboundError, because no request failed.

    `key` is what has reached its limit: a host, or the id of an account.
    """

    key: str | UUID


class HostBusyError(CallLimitError):
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


class AccountBusyError(CallLimitError, UnavailableError):
    """Two exchanges of the account are under way; nothing was sent."""

    def __init__(self, account: UUID) -> None:
        UnavailableError.__init__(self, _TWO_UNDER_WAY, retry_after=5)
        self.key = account


@dataclass(frozen=True, slots=True)
class ExchangeRules:
    """Whose exchange it is, how long it may wait to begin, and whether it is a delivery."""

    account: UUID
    wait_seconds: float
    is_delivery: bool = False


_current: ContextVar[ExchangeRules | None] = ContextVar("outbound_exchanges", default=None)


class MachineLocks:
    """Locks of a file's bytes, one for each exchange that an account may have.

    They hold between the processes of a machine, and the system frees those of a dead one.
    """

    def __init__(self) -> None:
        self._file = -1
        self._pid = 0
        self._changing = threading.Lock()
        self._ours: set[int] = set()  # offsets: a process is never kept from what it has locked itself

    @contextmanager
    def hold(self, account: UUID, give_up_at: float) -> Iterator[None]:
        """Hold one lock of the account for the length of the block. Raises AccountBusyError."""
        while (offset := self.try_lock(account)) is None:
            left = give_up_at - time.monotonic()
            if left <= 0:
                raise AccountBusyError(account)
            time.sleep(min(left, _POLL_SECONDS))
        try:
            yield
        finally:
            self._unlock(offset)

    def try_lock(self, account: UUID) -> int | None:
        """Take one of the account's locks; returns its offset in the file, or None if all are taken."""
        first = account.int % _MAX_OFFSETS * MAX_EXCHANGES
        with self._changing:
            for offset in range(first, first + MAX_EXCHANGES):
                if offset not in self._ours and self._lock_byte(offset):
                    self._ours.add(offset)
                    return offset
        return None

    def _lock_byte(self, offset: int) -> bool:
        try:
            fcntl.lockf(self._descriptor(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except BlockingIOError:
            return False
        return True

    def _unlock(self, offset: int) -> None:
        with self._changing:
            fcntl.lockf(self._descriptor(), fcntl.LOCK_UN, 1, offset)
            self._ours.discard(offset)

    def _descriptor(self) -> int:
        if self._pid != os.getpid():  # locks are not inherited by a fork, but its file is
            self._pid = os.getpid()
            self._ours.clear()
            self._file = os.open(settings.DATA_DIR / "exchanges.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file


class Exchanges:
    """The exchanges of this process, by account, and which accounts' deliveries were slow."""

    def __init__(self) -> None:
        self.places = FairSemaphore[UUID](_PLACES, AccountBusyError)
        self.slow_places = FairSemaphore[UUID](_SLOW_PLACES, AccountBusyError)
        self._locks = MachineLocks()
        self._noting = threading.Lock()
        self._slow: dict[UUID, None] = {}  # as ordered sets, the latest last
        self._fast: dict[UUID, None] = {}

    def has_place(self, account: UUID) -> bool:
        """Whether a delivery of the account could begin; other processes are not asked."""
        return self.places.has_place(account) and not self.is_held_up(account)

    def is_held_up(self, account: UUID) -> bool:
        """Whether deliveries of the account wait until one of another slow account ends."""
        return account in self._slow and self.slow_places.is_full()

    def is_slow(self, account: UUID) -> bool:
        """Whether the account's last delivery from this process took long."""
        return account in self._slow

    def is_fast(self, account: UUID) -> bool:
        """Whether the account's last delivery from this process was quick. Of a new account nothing is known."""
        return account in self._fast

    @contextmanager
    def exchange(self, rules: ExchangeRules) -> Iterator[None]:
        """Count one exchange for the length of the block. Raises AccountBusyError before anything is sent."""
        with ExitStack() as places:
            with external_wait():
                self._wait(rules, places)
            started = time.monotonic()
            try:
                yield
            finally:
                if rules.is_delivery:
                    self._note_speed(rules.account, is_slow=time.monotonic() - started > SLOW_SECONDS)

    def _wait(self, rules: ExchangeRules, places: ExitStack) -> None:
        account, give_up_at = rules.account, time.monotonic() + rules.wait_seconds
        places.enter_context(self.places.hold(account, rules.wait_seconds))
        places.enter_context(self._locks.hold(account, give_up_at))
        if rules.is_delivery and account in self._slow:
            # Last: while it waits for this one, a delivery keeps a place of its own account only.
            places.enter_context(self.slow_places.hold(account, max(0.0, give_up_at - time.monotonic())))

    def _note_speed(self, account: UUID, *, is_slow: bool) -> None:
        with self._noting:
            self._slow.pop(account, None)
            self._fast.pop(account, None)
            known, most = (self._slow, _MAX_KNOWN_SLOW) if is_slow else (self._fast, _MAX_KNOWN_FAST)
            known[account] = None
            if len(known) > most:
                del known[next(iter(known))]


EXCHANGES = Exchanges()


@contextmanager
def exchanges_of(account: UUID, *, wait_seconds: float | None = None, is_delivery: bool = False) -> Iterator[None]:
    """Calls inside the block are exchanges of the account; each waits that long to begin, by default as the limits say.

    They raise AccountBusyError.
    """
    limits = _SLOW_PLACES if is_delivery else _PLACES
    token = _current.set(ExchangeRules(account, limits.seconds if wait_seconds is None else wait_seconds, is_delivery))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def counted_exchange(rules: ExchangeRules | None) -> Iterator[None]:
    """Wraps every exchange of a session: counts it for the account of the session, or else of the block."""
    found = rules or _current.get()
    if found is None:
        yield
        return
    with EXCHANGES.exchange(found):
        yield
