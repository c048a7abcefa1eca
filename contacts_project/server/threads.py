"""The threads of a web process, which are ended in idle times, with their connections, to return memory.

The C library keeps freed memory for the next allocation, and cyclic garbage waits for a full collection, which an idle
process never runs: after a minute of mixed load the processes held 2.5 times the memory that they had held before.
"""

import asyncio
import ctypes
import gc
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Protocol, TypeAlias

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

Finish: TypeAlias = Callable[[BaseException | None], None]
"""Called in the thread after the task, with what it raised."""
_Task: TypeAlias = tuple[Callable[[], None], Finish]


class DatabaseThreadPool:
    """Threads that each may open a database connection, which another thread closes after they have ended.

    A task gets the thread that was idle last, so that one client after another is served by the same connection. Its
    pages and prepared statements are in memory; SQLite's other connections read what it has written once more. Python's
    own pool takes threads in turns, and starts new ones while others are about to be idle.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._threads: list[threading.Thread] = []
        self._queues: list[SimpleQueue[_Task | None]] = []
        # Of the threads that have nothing to do, the last one last. Lists are thread-safe.
        self._idle: list[SimpleQueue[_Task | None]] = []
        self._databases: list[BaseDatabaseWrapper] = []

    def submit(self, task: Callable[[], None], finish: Finish) -> None:
        """Run the task in an idle thread, or in a new one: whoever calls this limits their number."""
        try:
            tasks = self._idle.pop()
        except IndexError:
            tasks = self._start_thread()
        tasks.put((task, finish))

    def end(self) -> None:
        """Wait for the tasks, end the threads and close their connections."""
        for tasks in self._queues:
            tasks.put(None)
        for thread in self._threads:
            thread.join()
        for database in self._databases:
            database.close()

    def _start_thread(self) -> "SimpleQueue[_Task | None]":
        tasks: SimpleQueue[_Task | None] = SimpleQueue()
        number = len(self._threads)
        # Daemons, so that a process whose pool was not ended can end.
        thread = threading.Thread(target=self._work, args=(tasks,), name=f"{self._name}_{number}", daemon=True)
        self._threads.append(thread)
        self._queues.append(tasks)
        thread.start()
        return tasks

    def _work(self, tasks: "SimpleQueue[_Task | None]") -> None:
        self._share_connection()
        while (item := tasks.get()) is not None:
            task, finish = item
            error: BaseException | None = None
            try:
                task()
            except BaseException as raised:  # noqa: BLE001 - of whatever kind, who waits for the task gets it
                error = raised
            # First: who is told that the task has finished may have the next one.
            self._idle.append(tasks)
            finish(error)
            # Nothing of a request is kept by an idle thread.
            del item, task, finish, error

    def _share_connection(self) -> None:
        """In a new thread: let another thread close its connection, which is opened later."""
        database = connections[DEFAULT_DB_ALIAS]
        database.inc_thread_sharing()
        self._databases.append(database)


# A request is large by the size of its body and response, or by its CPU time: one that reads a whole account may return
# little.
LARGE_BYTES = 256 * 1024
LARGE_CPU_SECONDS = 0.1
# Large requests that end within this time share one release.
RELEASE_DELAY_SECONDS = 5
# Without a new request for this long, threads are ended.
IDLE_SECONDS = 8

_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has it


def release_memory() -> None:
    """Return free memory. Takes about 10 ms; other threads may run meanwhile."""
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


def end_threads(pools: Sequence[DatabaseThreadPool]) -> None:
    """End threads that are idle, with their connections, and return their memory."""
    for pool in pools:
        pool.end()
    release_memory()


def is_large(size: int, cpu_seconds: float) -> bool:
    """Whether a request with this many bytes (body and response) and CPU seconds should be followed by a release."""
    return size >= LARGE_BYTES or cpu_seconds >= LARGE_CPU_SECONDS


class ReplaceableThreads(Protocol):
    """What has a pool, as a ThreadQueue, and counts the requests in it."""

    requests_started: int
    requests_in_threads: int

    def replace_pool(self) -> DatabaseThreadPool:
        """Use new threads from now on; returns the old ones, for the caller to end."""


class MemoryReleaser:
    """Releases memory some seconds after a large request, once for all that end meanwhile, and in the next idle time.

    What lives on after a request lies between what the large request has freed, and keeps those pages: connections
    with their schema and prepared statements, serializers, the C library's cache of each thread. All of these belong to
    threads, so the threads are ended. This waits until no requests come, because new threads must open connections.
    """

    def __init__(self, *queues: ReplaceableThreads) -> None:
        self._queues = queues
        self._is_scheduled = False
        self._waits_for_idle = False

    def schedule(self) -> None:
        """Must be called on the event loop."""
        loop = asyncio.get_running_loop()
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_later(RELEASE_DELAY_SECONDS, self._start)
        if not self._waits_for_idle:
            self._waits_for_idle = True
            loop.call_later(IDLE_SECONDS, self._end_threads_if_idle, self._count_started())

    def _start(self) -> None:
        self._is_scheduled = False
        # In a thread: the event loop must not stop for the collection.
        asyncio.get_running_loop().run_in_executor(None, release_memory)

    def _end_threads_if_idle(self, started_before: int) -> None:
        loop, started = asyncio.get_running_loop(), self._count_started()
        if started != started_before or any(queue.requests_in_threads for queue in self._queues):
            loop.call_later(IDLE_SECONDS, self._end_threads_if_idle, started)
            return
        self._waits_for_idle = False
        loop.run_in_executor(None, end_threads, [queue.replace_pool() for queue in self._queues])

    def _count_started(self) -> int:
        return sum(queue.requests_started for queue in self._queues)
