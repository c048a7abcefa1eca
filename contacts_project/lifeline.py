"""A process that ends with its parent, also when that is killed or this one misses a signal while it starts."""

import os
import signal
import threading
import time

GRACE_SECONDS = 15


def end_with_parent(pipe: int) -> None:
    """Have a thread wait for the end of `pipe`, whose other end the parent alone holds open."""
    threading.Thread(target=_wait, args=(pipe,), name="lifeline", daemon=True).start()


def _wait(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
