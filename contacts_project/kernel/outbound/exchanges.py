"""At most two outbound exchanges of one account at a time, over all its hosts and kinds, on this machine.

Servers that users name (webhooks, ntfy, push services, address books, pictures in cards) may be slow, or slow on
purpose, and each exchange holds a thread. `exchanges_of` names the account for the calls inside its block, and
`Rules.exchanges` for those of a session. What no account has named, such as the geocoder or the OIDC provider, is not
limited here.
"""

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.hosts import BusyError
from contacts_project.kernel.texts import define_text

_TWO_UNDER_WAY = define_text(
    "exchanges_under_way",
    "Two requests to your servers are under way already. Nothing was sent: try again in a few seconds.",
)
MAX_EXCHANGES = 2
# Deliveries of accounts whose last one was slow: of all of them together at a time. It is half of the threads that may
# wait (processes.queue_pool), so that the other half is there for accounts that are not known to be slow.
MAX_SLOW_DELIVERIES, SLOW_SECONDS = 24, 2.0
# How often a waiting call looks whether another process has ended an exchange of the account.
_POLL_SECONDS = 0.1
_MAX_KNOWN_SLOW, _MAX_KNOWN_FAST = 10_000, 50_000
# Twice this is the highest offset that every system can lock.
_MAX_OFFSETS = 2**61


class AccountBusyError(BusyError, UnavailableError):
    """Two exchanges of the account are under way; nothing was sent."""

    def __init__(self, account: UUID) -> None:
        UnavailableError.__init__(self, _TWO_UNDER_WAY, retry_after=5)
        self.key = account


@dataclass(frozen=True, slots=True)
class ExchangeRules:
    """Whose exchange it is, how long it may wait for its turn, and whether it is a delivery."""

    account: UUID
    wait_seconds: float
    is_delivery: bool = False


_current: ContextVar[ExchangeRules | None] = ContextVar("outbound_exchanges", default=None)


class MachineLocks:
    """Locks of a file's bytes, one for each exchange that an account may have.

    They hold between the processes of a machine, and the system frees those of a dead one. In one process, Exchanges
    counts.
    """

    def __init__(self) -> None:
        self._file = -1
        self._pid = 0

    def try_lock(self, account: UUID, number: int) -> bool:
        try:
            fcntl.lockf(self._descriptor(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(account, number))
        except BlockingIOError:
            return False
        return True

    def unlock(self, account: UUID, number: int) -> None:
        fcntl.lockf(self._descriptor(), fcntl.LOCK_UN, 1, _offset(account, number))

    def _descriptor(self) -> int:
        if self._pid != os.getpid():  # locks are not inherited by a fork, but its file is
            self._pid = os.getpid()
            self._file = os.open(settings.DATA_DIR / "exchanges.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file


def _offset(account: UUID, number: int) -> int:
    return account.int % _MAX_OFFSETS * MAX_EXCHANGES + number


class Exchanges:
    """The exchanges of this process, by account. Those that wait get their turn in the order in which they came."""

    def __init__(self) -> None:
        self._ended = threading.Condition()
        self._locks = MachineLocks()
        self._active: dict[UUID, set[int]] = {}
        self._waiting: dict[UUID, deque[object]] = {}
        self._slow: dict[UUID, None] = {}  # as ordered sets, the latest last
        self._fast: dict[UUID, None] = {}
        self._slow_deliveries = 0

    def has_room(self, account: UUID) -> bool:
        """Whether a delivery of the account could begin; other processes are not asked."""
        has_free_place = len(self._active.get(account, ())) < MAX_EXCHANGES and account not in self._waiting
        return has_free_place and not self.is_held_up(account)

    def is_held_up(self, account: UUID) -> bool:
        """Whether deliveries of the account wait until one of another slow account ends."""
        return account in self._slow and not self.has_room_for_slow()

    def has_room_for_slow(self) -> bool:
        return self._slow_deliveries < MAX_SLOW_DELIVERIES

    def is_slow(self, account: UUID) -> bool:
        """Whether the account's last delivery from this process took long."""
        return account in self._slow

    def is_fast(self, account: UUID) -> bool:
        """Whether the account's last delivery from this process was quick. Of a new account nothing is known."""
        return account in self._fast

    @contextmanager
    def exchange(self, rules: ExchangeRules) -> Iterator[None]:
        """Count one exchange for the length of the block. Raises AccountBusyError before anything is sent."""
        with external_wait():
            number, is_slow = self._acquire(rules)
        started = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - started
            with self._ended:
                self._release(rules.account, number)
                self._slow_deliveries -= is_slow
                if rules.is_delivery:
                    self._note_speed(rules.account, is_slow=seconds > SLOW_SECONDS)
                self._ended.notify_all()

    def _acquire(self, rules: ExchangeRules) -> tuple[int, bool]:
        account, ticket = rules.account, object()
        give_up_at = time.monotonic() + rules.wait_seconds
        with self._ended:
            queue = self._waiting.setdefault(account, deque())
            queue.append(ticket)
            try:
                while True:
                    is_slow = rules.is_delivery and account in self._slow
                    has_room = not is_slow or self._slow_deliveries < MAX_SLOW_DELIVERIES
                    if queue[0] is ticket and has_room and (number := self._take(account)) is not None:
                        self._slow_deliveries += is_slow
                        return number, is_slow
                    left = give_up_at - time.monotonic()
                    if left <= 0:
                        raise AccountBusyError(account)
                    self._ended.wait(min(left, _POLL_SECONDS))
            finally:
                queue.remove(ticket)
                if not queue:
                    del self._waiting[account]
                self._ended.notify_all()

    def _take(self, account: UUID) -> int | None:
        taken = self._active.get(account, set())
        for number in range(MAX_EXCHANGES):
            if number not in taken and self._locks.try_lock(account, number):
                self._active.setdefault(account, taken).add(number)
                return number
        return None

    def _release(self, account: UUID, number: int) -> None:
        self._locks.unlock(account, number)
        self._active[account].discard(number)
        if not self._active[account]:
            del self._active[account]

    def _note_speed(self, account: UUID, *, is_slow: bool) -> None:
        self._slow.pop(account, None)
        self._fast.pop(account, None)
        known, most = (self._slow, _MAX_KNOWN_SLOW) if is_slow else (self._fast, _MAX_KNOWN_FAST)
        known[account] = None
        if len(known) > most:
            del known[next(iter(known))]


EXCHANGES = Exchanges()


@contextmanager
def exchanges_of(account: UUID, *, wait_seconds: float, is_delivery: bool = False) -> Iterator[None]:
    """Calls inside the block are exchanges of the account; each waits that long for its turn. They raise
    AccountBusyError."""
    token = _current.set(ExchangeRules(account, wait_seconds, is_delivery))
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
