"""Returns the memory of large requests to the operating system.

The C library keeps freed memory for the next allocation, and cyclic garbage waits for a full collection, which an idle
process never runs: after a minute of mixed load the processes held 2.5 times the memory that they had held before.
"""

import asyncio
import ctypes
import gc
from collections.abc import Sequence

from contacts_project.server.thread_pool import DatabaseThreadPool
from contacts_project.server.thread_queues import ThreadQueue

# A request is large by the size of its body and response, or by its CPU time: one that reads a whole account may return
# little.
LARGE_BYTES = 256 * 1024
LARGE_CPU_SECONDS = 0.1
# Large requests that end within this time share one release.
RELEASE_DELAY_SECONDS = 5
# Without a new request for this long, threads are ended.
QUIET_SECONDS = 8

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


class MemoryReleaser:
    """Releases memory some seconds after a large request, once for all that end meanwhile, and in the next quiet time.

    What lives on after a request lies between what the large request has freed, and keeps those pages: connections
    with their schema and prepared statements, serializers, the C library's cache of each thread. All of these belong to
    threads, so the threads are ended. This waits until no requests come, because new threads must open connections.
    """

    def __init__(self, *queues: ThreadQueue) -> None:
        self._queues = queues
        self._is_scheduled = False
        self._waits_for_quiet = False

    def schedule(self) -> None:
        """Must be called on the event loop."""
        loop = asyncio.get_running_loop()
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_later(RELEASE_DELAY_SECONDS, self._start)
        if not self._waits_for_quiet:
            self._waits_for_quiet = True
            loop.call_later(QUIET_SECONDS, self._end_threads_if_quiet, self._count_started())

    def _start(self) -> None:
        self._is_scheduled = False
        # In a thread: the event loop must not stop for the collection.
        asyncio.get_running_loop().run_in_executor(None, release_memory)

    def _end_threads_if_quiet(self, started_before: int) -> None:
        loop, started = asyncio.get_running_loop(), self._count_started()
        if started != started_before or any(queue.requests_in_threads for queue in self._queues):
            loop.call_later(QUIET_SECONDS, self._end_threads_if_quiet, started)
            return
        self._waits_for_quiet = False
        loop.run_in_executor(None, end_threads, [queue.replace_pool() for queue in self._queues])

    def _count_started(self) -> int:
        return sum(queue.requests_started for queue in self._queues)
