"""Returns the memory of large requests to the operating system.

The C library keeps freed memory for the next allocation, and cyclic garbage waits for a full collection, which an idle
process never runs: after a minute of mixed load the processes held 2.5 times the memory that they had held before.
"""

import asyncio
import ctypes
import gc

# A request is large by the size of its body and answer, or by its CPU time: one that reads a whole account may return
# little.
LARGE_BYTES = 256 * 1024
LARGE_CPU_SECONDS = 0.1
# Large requests that end within this time share one release.
RELEASE_DELAY_SECONDS = 5

_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has it


def release_memory() -> None:
    """Return free memory. Takes about 10 ms; other threads may run meanwhile."""
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


def is_large(size: int, cpu_seconds: float) -> bool:
    """Whether a request with this many bytes (body and answer) and CPU seconds should be followed by a release."""
    return size >= LARGE_BYTES or cpu_seconds >= LARGE_CPU_SECONDS


class MemoryReleaser:
    """Releases memory some seconds after a large request, once for all that end meanwhile."""

    def __init__(self) -> None:
        self._is_scheduled = False

    def schedule(self) -> None:
        """Must be called on the event loop."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(RELEASE_DELAY_SECONDS, self._release_in_thread)

    def _release_in_thread(self) -> None:
        self._is_scheduled = False
        # The event loop must not stop for the collection.
        asyncio.get_running_loop().run_in_executor(None, release_memory)
