"""Decides which waiting request gets a worker thread next: callers take turns, and none can occupy all threads."""

import asyncio
import threading
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
from contacts_project.server.connection import close_stalled_connection
from contacts_project.server.refusals import RefusedError
from contacts_project.server.request_head import QueueKey
from contacts_project.server.threads import DatabaseThreadPool

# A credential may be made up, and accounts are made in a row: without this limit, each would have a turn of its own.
CALLERS_PER_ADDRESS = 10


class Admissions:
    """Counts requests, or open streams, by caller and address. All methods are called on one event loop.

    An address may have ten times `max_per_caller`. Of each of its callers at most `max_per_caller` count, so that one
    who sends a thousand does not use it up.
    """

    def __init__(self, max_per_caller: int) -> None:
        self.max_per_caller = max_per_caller
        self.by_caller: Counter[tuple[str, object]] = Counter()
        self.by_address: Counter[str] = Counter()

    def admit(self, caller: object, address: str) -> None:
        """Count one. Raises RefusedError (429) where the address has too many; an empty address is not limited."""
        if address and self.by_caller[address, caller] < self.max_per_caller:
            if self.by_address[address] >= CALLERS_PER_ADDRESS * self.max_per_caller:
                raise RefusedError(429)
            self.by_address[address] += 1
        self.by_caller[address, caller] += 1

    def dismiss(self, caller: object, address: str) -> None:
        """What `admit` has counted has ended."""
        self.by_caller[address, caller] -= 1
        if address and self.by_caller[address, caller] < self.max_per_caller:
            self.by_address[address] -= 1
        # Counters keep zeros: keys of callers that are gone would pile up.
        if not self.by_caller[address, caller]:
            del self.by_caller[address, caller]
        if not self.by_address[address]:
            del self.by_address[address]


# Requests of one caller, and those of them for one path, that may be in progress: from getting a thread until the last
# byte of the response was read. So a caller who sends a thousand requests and never reads delays only itself. One
# address may be many users: the lower limit by path leaves room for requests to other paths.
MAX_PER_CALLER = 24
MAX_PER_PATH = 8
QUEUE_TIMEOUT_SECONDS = 60
_STALL_CHECK_SECONDS = 0.2
# Large requests that may run at a time. Each takes memory in proportion to its account, and of what eight take together
# the allocator cannot return all: small objects lie between. More would not be faster, as they wait for each other's
# GIL.
MAX_LARGE_RUNNING = 2
# After this wait a large request ignores that limit: on a slow machine, late is better than refused.
LARGE_WAIT_SECONDS = 10
_MAX_LARGE_PATHS = 1_000
# Requests that may wait for other servers at a time, in addition to those that run. Each has an idle thread.
MAX_EXTERNAL_WAITS = 32
# Responses that may wait for their clients to read, in addition to those. Each has an idle thread, too.
MAX_READER_WAITS = 16


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
        self.external_waits = threading.Semaphore(MAX_EXTERNAL_WAITS)
        self.reader_waits: dict[WaitingResponse, object] = {}  # by the response: its caller
        self.requests_started = 0
        self.requests_in_threads = 0  # with those that wait for other servers
        self.max_per_key = max(2, threads // 4)  # more would only wait for the GIL
        self.in_progress: Counter[object] = Counter()  # by caller, by caller and path, and by QueueKey
        self.running: Counter[QueueKey] = Counter()  # the requests that have a thread
        self.waits: Counter[object] = Counter()  # by caller and path: an account's requests that wait for other servers
        # By caller and path: those whose last request was large. A dictionary as an ordered set, the latest last.
        self.large_paths: dict[tuple[object, bytes], None] = {}
        # Waiters that have waited for LARGE_WAIT_SECONDS.
        self.overdue: set[asyncio.Future[None]] = set()
        self.waiters: dict[object, Waiters] = {}  # by caller; the first is the next
        self.admissions = Admissions(MAX_PER_CALLER)  # those in progress and those that wait
        self.blocked_callers: set[object] = set()  # those that have reached MAX_PER_CALLER and wait for more

    async def acquire(self, key: QueueKey) -> None:
        """Wait for a thread. Afterwards call `run` at most once, and `release` in any case. Raises RefusedError."""
        self.admissions.admit(key.caller, key.address)
        try:
            await self._wait_for_thread(key)
        except BaseException:
            self.admissions.dismiss(key.caller, key.address)
            raise

    async def _wait_for_thread(self, key: QueueKey) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self.waiters.setdefault(key.caller, {}).setdefault(key.path, {}).setdefault(key, deque()).append(waiter)
        self._wake_waiters()
        if waiter.done():
            return
        # For every request: whether its path counts as large may change while it waits.
        timer = loop.call_later(LARGE_WAIT_SECONDS, self._mark_overdue, waiter)
        try:
            async with asyncio.timeout(QUEUE_TIMEOUT_SECONDS):
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
        self.admissions.dismiss(key.caller, key.address)
        self._change_counts(key, in_progress=-1)

    @contextmanager
    def _external_wait(self, loop: asyncio.AbstractEventLoop, key: QueueKey) -> Iterator[None]:
        """In a worker thread: count it as free while it waits for the network, so that another request can run."""
        if not self.external_waits.acquire(blocking=False):
            raise TooManyExternalWaitsError
        waits = int(account_of_request.get() is not None)
        loop.call_soon_threadsafe(partial(self._change_counts, key, free_threads=1, in_progress=-1, waits=waits))
        try:
            yield
        finally:
            # It continues at once, even where its place was given away: free_threads may be negative for a while.
            loop.call_soon_threadsafe(partial(self._change_counts, key, free_threads=-1, in_progress=1, waits=-waits))
            self.external_waits.release()

    @contextmanager
    def reader_wait(self, loop: asyncio.AbstractEventLoop, key: QueueKey, response: WaitingResponse) -> Iterator[None]:
        """In a worker thread: count it as free while the response waits for its client to read.

        The request stays in progress. Beyond MAX_READER_WAITS the client that reads most slowly is disconnected, one of
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
        if len(self.reader_waits) > MAX_READER_WAITS:
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
            if key and self.in_progress[caller] < MAX_PER_CALLER:
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
        return number < MAX_PER_PATH and (not waits or number + waits < MAX_WAITS_OF_ACCOUNT)

    def _fits_large_limit(self, key: QueueKey) -> bool:
        if not self._is_large(key):
            return True
        # Skips those that timed out or were cancelled: they take no thread.
        first = next((waiter for waiter in self.waiters[key.caller][key.path][key] if not waiter.done()), None)
        if first is None or first in self.overdue:
            return True
        return sum(count for other, count in self.running.items() if self._is_large(other)) < MAX_LARGE_RUNNING

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
