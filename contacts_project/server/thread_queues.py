"""Decides which waiting request gets a worker thread next: callers take turns, and none can occupy all threads."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import Protocol

from contacts_project.kernel.external_waits import (
    MAX_WAITS_OF_ACCOUNT,
    TooManyExternalWaitsError,
    account_of_request,
    release_thread,
)
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.server.connection import close_stalled_connection
from contacts_project.server.refusals import RefusedError
from contacts_project.server.request_head import QueueKey
from contacts_project.server.threads import DatabaseThreadPool

# Who waits for a thread, waits on the event loop, and three keys limit it at once: that is no FairSemaphore.
REQUESTS, REQUESTS_TO_PATH = LIMITS["requests"], LIMITS["requests to one path"]
REQUESTS_OF_ADDRESS = LIMITS["requests of an address"]
LARGE_REQUESTS, READER_WAITS = LIMITS["large requests"], LIMITS["threads that wait for readers"]
_STALL_CHECK_SECONDS = 0.2
_MAX_LARGE_PATHS = 1_000


class AddressLimit:
    """Counts the requests of each address, up to `per_address`.

    Of each of its callers at most `per_caller` count, so that one who sends a thousand does not use it up.
    """

    def __init__(self, per_caller: float, per_address: float) -> None:
        self.per_caller, self.per_address = per_caller, per_address
        self.by_caller: Counter[tuple[str, object]] = Counter()
        self.held: Counter[str] = Counter()

    def acquire(self, key: QueueKey) -> None:
        """Count one. Raises RefusedError (429) where the address has too many; an empty address is not limited."""
        address, caller = key.address, key.caller
        if address and self.by_caller[address, caller] < self.per_caller:
            if self.held[address] >= self.per_address:
                raise RefusedError(429)
            self.held[address] += 1
        self.by_caller[address, caller] += 1

    def release(self, key: QueueKey) -> None:
        address, caller = key.address, key.caller
        self.by_caller[address, caller] -= 1
        if address and self.by_caller[address, caller] < self.per_caller:
            self.held[address] -= 1
        # Counters keep zeros: keys of callers that are gone would pile up.
        if not self.by_caller[address, caller]:
            del self.by_caller[address, caller]
        if not self.held[address]:
            del self.held[address]


class WaitingResponse(Protocol):
    """A response that waits for its client to read it."""

    is_closed: bool

    def drop(self) -> None:
        """Close it and disconnect its client."""

    def speed(self) -> float:
        """How fast it is read."""


Waiters = dict[bytes, dict[QueueKey, "deque[asyncio.Future[None]]"]]  # of one caller, by path


class ThreadQueue:
    """A thread pool with a fair queue. All methods are called on one event loop, so that no lock is needed."""

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self.pool = DatabaseThreadPool(name)
        self.free_threads = threads
        waits = LIMITS["threads that wait for other servers"]
        self.external_waits = FairSemaphore[None](waits, TooManyExternalWaitsError)
        self.reader_waits: dict[WaitingResponse, object] = {}  # by the response: its caller
        self.requests_started = 0
        self.requests_in_threads = 0  # with those that wait for other servers
        self.max_per_key = max(2, threads // 4)  # more would only wait for the GIL
        self.in_progress: Counter[object] = Counter()  # by caller, by caller and path, and by QueueKey
        self.running: Counter[QueueKey] = Counter()  # the requests that have a thread
        self.waits: Counter[object] = Counter()  # by caller and path: an account's requests that wait for other servers
        # By caller and path: those whose last request was large. A dictionary as an ordered set, the latest last.
        self.large_paths: dict[tuple[object, bytes], None] = {}
        # Waiters that have waited as long as a large request may have to.
        self.overdue: set[asyncio.Future[None]] = set()
        self.waiters: dict[object, Waiters] = {}  # by caller; the first is the next
        # Those in progress and those that wait.
        self.addresses = AddressLimit(REQUESTS.per_key, REQUESTS_OF_ADDRESS.per_key)
        self.blocked_callers: set[object] = set()  # those that have reached their limit and wait for more

    async def acquire(self, key: QueueKey) -> None:
        """Wait for a thread. Afterwards call `run` at most once, and `release` in any case. Raises RefusedError."""
        self.addresses.acquire(key)
        try:
            await self._wait_for_thread(key)
        except BaseException:
            self.addresses.release(key)
            raise

    async def _wait_for_thread(self, key: QueueKey) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self.waiters.setdefault(key.caller, {}).setdefault(key.path, {}).setdefault(key, deque()).append(waiter)
        self._wake_waiters()
        if waiter.done():
            return
        # For every request: whether its path counts as large may change while it waits.
        timer = loop.call_later(LARGE_REQUESTS.seconds, self._mark_overdue, waiter)
        try:
            async with asyncio.timeout(REQUESTS.seconds):
                await waiter
        except (TimeoutError, asyncio.CancelledError) as error:
            # The thread was granted in the same iteration of the loop in which the wait ended: return it.
            if waiter.done() and not waiter.cancelled():
                self._change_counts(key, free_threads=1, in_progress=-1)
            waiter.cancel()
            if isinstance(error, TimeoutError):
                raise RefusedError(503) from None
            raise
        finally:
            timer.cancel()
            self.overdue.discard(waiter)

    async def run(self, key: QueueKey, function: Callable[[], None]) -> None:
        """Run `function` in the acquired thread, then free the thread. The request stays in progress."""
        await self.start(key, function)

    def start(self, key: QueueKey, function: Callable[[], None]) -> "asyncio.Future[None]":
        """The same, with a future that is done when the function has ended."""
        # A copy: context variables that are set for this request must not be seen by the thread's next one.
        loop, context = asyncio.get_running_loop(), copy_context()
        context.run(release_thread.set, partial(self._external_wait, loop, key))
        self.requests_started += 1
        self.requests_in_threads += 1
        finished: asyncio.Future[None] = loop.create_future()

        def finish(error: BaseException | None) -> None:
            # After the end of the loop nobody waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finish, key, finished, error)

        self.pool.submit(partial(context.run, function), finish)
        return finished

    def _finish(self, key: QueueKey, finished: "asyncio.Future[None]", error: BaseException | None) -> None:
        """Free the thread, also where the request was cancelled meanwhile, and let the request go on."""
        self.requests_in_threads -= 1
        self._change_counts(key, free_threads=1)
        if finished.done():
            return
        if error is None:
            finished.set_result(None)
        else:
            finished.set_exception(error)

    def replace_pool(self) -> DatabaseThreadPool:
        """Use new threads from now on; returns the old ones, for the caller to end."""
        old, self.pool = self.pool, DatabaseThreadPool(self._name)
        return old

    def release(self, key: QueueKey, *, was_large: bool = False) -> None:
        """End the request. `was_large` predicts the caller's next request to the same path."""
        path = key.caller, key.path
        self.large_paths.pop(path, None)
        if was_large:
            self.large_paths[path] = None
        if len(self.large_paths) > _MAX_LARGE_PATHS:
            del self.large_paths[next(iter(self.large_paths))]
        self.addresses.release(key)
        self._change_counts(key, in_progress=-1)

    @contextmanager
    def _external_wait(self, loop: asyncio.AbstractEventLoop, key: QueueKey) -> Iterator[None]:
        """In a worker thread: count it as free while it waits for the network, so that another request can run."""
        waits, change = int(account_of_request.get() is not None), partial(self._change_counts, key)
        with self.external_waits.hold(None):
            loop.call_soon_threadsafe(partial(change, free_threads=1, in_progress=-1, waits=waits))
            try:
                yield
            finally:
                # It continues at once, even where its place was given away: free_threads may be negative for a while.
                loop.call_soon_threadsafe(partial(change, free_threads=-1, in_progress=1, waits=-waits))

    @contextmanager
    def reader_wait(self, loop: asyncio.AbstractEventLoop, key: QueueKey, response: WaitingResponse) -> Iterator[None]:
        """In a worker thread: count it as free while the response waits for its client to read.

        The request stays in progress. Beyond the limit the client that reads most slowly is disconnected, one of
        the caller who has most of them.
        """
        loop.call_soon_threadsafe(self._begin_reader_wait, key, response)
        try:
            yield
        finally:
            loop.call_soon_threadsafe(self._end_reader_wait, key, response)

    def _begin_reader_wait(self, key: QueueKey, response: WaitingResponse) -> None:
        self._change_counts(key, free_threads=1)
        if response.is_closed:  # its thread does not know yet
            return
        self.reader_waits[response] = key.caller
        if len(self.reader_waits) > READER_WAITS.total:
            numbers = Counter(self.reader_waits.values())
            slowest = max(self.reader_waits, key=lambda one: (numbers[self.reader_waits[one]], -one.speed()))
            del self.reader_waits[slowest]
            slowest.drop()

    def _end_reader_wait(self, key: QueueKey, response: WaitingResponse) -> None:
        self.reader_waits.pop(response, None)
        self._change_counts(key, free_threads=-1)

    def _change_counts(self, key: QueueKey, *, free_threads: int = 0, in_progress: int = 0, waits: int = 0) -> None:
        self.free_threads += free_threads
        self.waits[key.caller, key.path] += waits
        if not self.waits[key.caller, key.path]:
            del self.waits[key.caller, key.path]
        self.running[key] -= free_threads
        if not self.running[key]:
            del self.running[key]
        for counted in (key, (key.caller, key.path), key.caller):
            self.in_progress[counted] += in_progress
            # Counters keep zeros: keys of callers that are gone would pile up.
            if not self.in_progress[counted]:
                del self.in_progress[counted]
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        while self.free_threads > 0 and (key := self._next_key()):
            waiter = self.waiters[key.caller][key.path][key].popleft()
            self._move_to_end(key)
            # A waiter that timed out or was cancelled is still in the queue; the thread goes to the next one.
            if not waiter.done():
                self.free_threads -= 1
                self.running[key] += 1
                self.in_progress.update((key, (key.caller, key.path), key.caller))
                waiter.set_result(None)

    def _next_key(self) -> QueueKey | None:
        for caller, paths in self.waiters.items():
            key = self._next_key_of(caller, paths)
            if key and self.in_progress[caller] < REQUESTS.per_key:
                return key
            if key:
                self._schedule_stall_check(caller)
        return None

    def _next_key_of(self, caller: object, paths: Waiters) -> QueueKey | None:
        for path, keys in paths.items():
            if self._path_has_room(caller, path):
                for key in keys:
                    if self.in_progress[key] < self.max_per_key and self._fits_large_limit(key):
                        return key
        return None

    def _path_has_room(self, caller: object, path: bytes) -> bool:
        number, waits = self.in_progress[caller, path], self.waits[caller, path]
        # Where requests wait for other servers, the next one is likely to: beyond the account's limit it would be
        # refused. In the queue it waits without a thread.
        return number < REQUESTS_TO_PATH.per_key and (not waits or number + waits < MAX_WAITS_OF_ACCOUNT)

    def _fits_large_limit(self, key: QueueKey) -> bool:
        if not self._is_large(key):
            return True
        # Skips those that timed out or were cancelled: they take no thread.
        first = next((waiter for waiter in self.waiters[key.caller][key.path][key] if not waiter.done()), None)
        if first is None or first in self.overdue:
            return True
        return sum(count for other, count in self.running.items() if self._is_large(other)) < LARGE_REQUESTS.total

    def _is_large(self, key: QueueKey) -> bool:
        return (key.caller, key.path) in self.large_paths

    def _mark_overdue(self, waiter: "asyncio.Future[None]") -> None:
        if not waiter.done():
            self.overdue.add(waiter)
            self._wake_waiters()

    def _schedule_stall_check(self, caller: object) -> None:
        """Check soon whether the caller is blocked by responses that it does not read itself.

        With a timer, since nothing else may happen in this queue until then.
        """
        if not self.blocked_callers:
            asyncio.get_running_loop().call_later(_STALL_CHECK_SECONDS, self._close_stalled_connections)
        self.blocked_callers.add(caller)

    def _close_stalled_connections(self) -> None:
        blocked, self.blocked_callers = self.blocked_callers, set()
        for caller in blocked:
            close_stalled_connection(caller)
        # Schedules the next check for callers that are still blocked.
        self._wake_waiters()

    def _move_to_end(self, key: QueueKey) -> None:
        # Dictionaries keep the order of insertion: what is removed and inserted again is served last.
        paths = self.waiters.pop(key.caller)
        keys = paths.pop(key.path)
        if rest := keys.pop(key):
            keys[key] = rest
        if keys:
            paths[key.path] = keys
        if paths:
            self.waiters[key.caller] = paths
