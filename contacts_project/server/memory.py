"""Memory that large requests leave behind goes back to the system.

The C library keeps what was freed for the next allocation, and Python's cycles wait for a full collection, which an
idle process never comes to: after a minute of mixed load the processes held 2.5 times of what they had held.
"""

import asyncio
import ctypes
import gc

# From so many bytes on a body or an answer is worth it; what comes within the delay is done with it.
LARGE, DELAY_SECONDS = 256 * 1024, 5

_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it


def release_memory() -> None:
    """Give back what is free: about 10 ms, while the other threads may run."""
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


class Release:
    """Has memory released some seconds after a large request, once for all that come meanwhile."""

    def __init__(self) -> None:
        self._is_due = False

    def note(self, size: int) -> None:
        """A request with so many bytes in its body and answer is over. On the event loop."""
        if size >= LARGE and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(DELAY_SECONDS, self._start)

    def _start(self) -> None:
        self._is_due = False
        asyncio.get_running_loop().run_in_executor(None, release_memory)
