"""Memory that large requests leave behind goes back to the system.

The C library keeps what was freed for the next allocation, and Python's cycles wait for a full collection, which an
idle process never comes to: after a minute of mixed load the processes held 2.5 times of what they had held.
"""

import asyncio
import ctypes
import gc

# From so many bytes of body and answer on, or so much CPU of its thread: what goes through a whole account may answer
# little. What comes within the delay is done with it.
LARGE, LONG_SECONDS, DELAY_SECONDS = 256 * 1024, 0.1, 5

_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it


def release_memory() -> None:
    """Give back what is free: about 10 ms, while the other threads may run."""
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


def is_large(size: int, cpu_seconds: float) -> bool:
    """Whether a request with so many bytes in its body and answer, and so much CPU, has taken memory worth a look."""
    return size >= LARGE or cpu_seconds >= LONG_SECONDS


class Release:
    """Has memory released some seconds after a large request, once for all that come meanwhile."""

    def __init__(self) -> None:
        self._is_due = False

    def note(self) -> None:
        """A large request is over. On the event loop."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(DELAY_SECONDS, self._start)

    def _start(self) -> None:
        self._is_due = False
        asyncio.get_running_loop().run_in_executor(None, release_memory)
