"""Who gets a thread next: callers are served in rotation, and nobody can have them all."""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

from contacts_project.kernel.external_waits import TooManyExternalWaitsError, release_thread
from contacts_project.server.refusals import RefusedError
from contacts_project.server.stalled import close_stalled_connection

# Requests of one caller, and of those the ones for one path, that may be under way: from getting a thread until the
# last byte of the answer is taken. Who asks a thousand times and never reads waits for himself. A caller may be many,
# behind one address, so that what they ask for elsewhere has room left.
MOST_OF_CALLER = 24
MOST_OF_PATH = 8
WAIT_SECONDS = 60
_LOOK_SECONDS = 0.2
# Large requests that threads work on at a time. Each takes memory by the size of its account, and what eight have taken
# together does not all come back: with small objects between them, the allocator keeps it. More would be no faster, for
# they wait for each other's lock of the interpreter.
MOST_LARGE = 2
# After so long a large one is let in beside them: on a machine that is too slow, late is better than refused.
PATIENCE_SECONDS = 10
_KINDS_KEPT = 1_000
# Requests that may wait for other servers at a time, beyond those that run: each has a thread that does nothing.
MOST_WAITING = 32


@dataclass(frozen=True, slots=True)
class Kind:
    """Requests that wait behind each other: the same `caller` asks the same thing."""

    caller: object
    path: bytes  # with the method
    query: bytes = b""


Waiting = dict[bytes, dict[Kind, "deque[asyncio.Future[None]]"]]  # by path


class ThreadQueue:
    """Some threads, with a queue in front. For one event loop: nothing here is called from the threads."""

    def __init__(self, name: str, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads + MOST_WAITING, name)
        self.free = threads
        self.waiting_threads = threading.Semaphore(MOST_WAITING)
        self.max_per_kind = max(2, threads // 4)  # more would only wait for the lock of the interpreter
        self.under_way: Counter[object] = Counter()  # by caller, by caller and path, and by Kind
        self.running: Counter[Kind] = Counter()  # those that have a thread now
        # By caller and path, those that were large the last time, the latest last.
        self.large: dict[tuple[object, bytes], None] = {}
        # The waiters that have waited long enough for the other large ones.
        self.impatient: set[asyncio.Future[None]] = set()
        self.waiting: dict[object, Waiting] = {}  # by caller; who comes first is next
        self.held_up: set[object] = set()  # callers that have all they may, and ask for something else

    async def enter(self, kind: Kind) -> None:
        """Wait for a thread. Then `call` once, and `leave` in any case. Raises RefusedError."""
        loop = asyncio.get_running_loop()
        grant: asyncio.Future[None] = loop.create_future()
        self.waiting.setdefault(kind.caller, {}).setdefault(kind.path, {}).setdefault(kind, deque()).append(grant)
        self._grant()
        if grant.done():
            return
        # Whatever it is taken for now: it may count as large by the time that it is its turn.
        patience = loop.call_later(PATIENCE_SECONDS, self._let_in, grant)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await grant
        except (TimeoutError, asyncio.CancelledError) as error:
            if grant.done() and not grant.cancelled():  # granted at the last moment
                self._count(kind, threads=1, requests=-1)
            grant.cancel()
            if isinstance(error, TimeoutError):
                raise RefusedError(503) from None
            raise
        finally:
            patience.cancel()
            self.impatient.discard(grant)

    async def call(self, kind: Kind, function: Callable[[], None]) -> None:
        """Run `function` in the thread that `enter` gave, and give the thread back."""
        loop, context = asyncio.get_running_loop(), copy_context()  # what is set for a request is not the next one's
        context.run(release_thread.set, partial(self._thread_released, loop, kind))
        try:
            await loop.run_in_executor(self.pool, context.run, function)
        finally:
            self._count(kind, threads=1)

    def leave(self, kind: Kind, *, was_large: bool = False) -> None:
        """The request is over; the caller's next for its path is taken for as large."""
        path = kind.caller, kind.path
        self.large.pop(path, None)
        if was_large:
            self.large[path] = None
        if len(self.large) > _KINDS_KEPT:
            del self.large[next(iter(self.large))]
        self._count(kind, requests=-1)

    @contextmanager
    def _thread_released(self, loop: asyncio.AbstractEventLoop, kind: Kind) -> Iterator[None]:
        """In a thread: while it waits for the network it counts as free, so that another request may run."""
        if not self.waiting_threads.acquire(blocking=False):
            raise TooManyExternalWaitsError
        loop.call_soon_threadsafe(partial(self._count, kind, threads=1, requests=-1))
        try:
            yield
        finally:  # it goes on at once, if need be as one more than there should be
            loop.call_soon_threadsafe(partial(self._count, kind, threads=-1, requests=1))
            self.waiting_threads.release()

    def _count(self, kind: Kind, *, threads: int = 0, requests: int = 0) -> None:
        """So many threads are free again, so many requests of the kind are under way."""
        self.free += threads
        self.running[kind] -= threads
        if not self.running[kind]:
            del self.running[kind]
        for counted in (kind, (kind.caller, kind.path), kind.caller):
            self.under_way[counted] += requests
            if not self.under_way[counted]:
                del self.under_way[counted]
        self._grant()

    def _grant(self) -> None:
        while self.free > 0 and (kind := self._next()):
            grant = self.waiting[kind.caller][kind.path][kind].popleft()
            self._move_to_end(kind)
            # Who gave up meanwhile has cancelled it: the thread goes to the next.
            if not grant.done():
                self.free -= 1
                self.running[kind] += 1
                self.under_way.update((kind, (kind.caller, kind.path), kind.caller))
                grant.set_result(None)

    def _next(self) -> Kind | None:
        for caller, paths in self.waiting.items():
            kind = self._next_of(caller, paths)
            if kind and self.under_way[caller] < MOST_OF_CALLER:
                return kind
            if kind:
                self._mark_held_up(caller)
        return None

    def _next_of(self, caller: object, paths: Waiting) -> Kind | None:
        for path, kinds in paths.items():
            if self.under_way[caller, path] < MOST_OF_PATH:
                for kind in kinds:
                    if self.under_way[kind] < self.max_per_kind and self._has_room(kind):
                        return kind
        return None

    def _has_room(self, kind: Kind) -> bool:
        if not self._is_large(kind):
            return True
        # Who gave up is still in the queue, and takes no thread.
        first = next((grant for grant in self.waiting[kind.caller][kind.path][kind] if not grant.done()), None)
        if first is None or first in self.impatient:
            return True
        return sum(count for other, count in self.running.items() if self._is_large(other)) < MOST_LARGE

    def _is_large(self, kind: Kind) -> bool:
        return (kind.caller, kind.path) in self.large

    def _let_in(self, grant: "asyncio.Future[None]") -> None:
        if not grant.done():
            self.impatient.add(grant)
            self._grant()

    def _mark_held_up(self, caller: object) -> None:
        """Have somebody cut off, if need be, for what waits although nobody else asks for it."""
        if not self.held_up:
            asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._close_stalled_connections)
        self.held_up.add(caller)

    def _close_stalled_connections(self) -> None:
        held_up, self.held_up = self.held_up, set()
        for caller in held_up:
            close_stalled_connection(caller)
        self._grant()

    def _move_to_end(self, kind: Kind) -> None:
        # Dictionaries keep the order of insertion: what is taken out and put back comes last.
        paths = self.waiting.pop(kind.caller)
        kinds = paths.pop(kind.path)
        if rest := kinds.pop(kind):
            kinds[kind] = rest
        if kinds:
            paths[kind.path] = kinds
        if paths:
            self.waiting[kind.caller] = paths
