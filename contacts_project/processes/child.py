"""How a process that the supervisor starts begins, and how it ends with the supervisor."""

import os
import signal
import threading
import time

GRACE_SECONDS = 15


def end_with_parent(pipe: int) -> None:
    """Have a thread wait for the end of `pipe`, whose other end the parent alone holds open.

    So a process ends when its parent is killed, also when it misses a signal while it starts.
    """
    threading.Thread(target=_wait, args=(pipe,), name="parent", daemon=True).start()


def _wait(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def set_up_django() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
    import django  # noqa: PLC0415 - after the thread of end_with_parent began

    django.setup()
