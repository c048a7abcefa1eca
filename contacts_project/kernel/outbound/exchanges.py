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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.outbound.hosts import BusyError
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


class AccountBusyError(BusyError, UnavailableError):
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
