"""What every process of the supervisor does at its start: exit with the supervisor, set up Django."""

import os
import signal
import threading
import time

GRACE_SECONDS = 15


def exit_with_parent(pipe: int) -> None:
    """Start a thread that stops this process when `pipe` is closed; only the parent holds the writing end.

    A signal is not enough: a parent that is killed sends none, and a process that is just starting may miss one.
    """

    def wait() -> None:
        while os.read(pipe, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def set_up_django() -> None:
    """Ends the process if the database is of a newer version: most of what it does would fail."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
    import django  # noqa: PLC0415 - takes long: exit_with_parent must come first

    django.setup()
    from contacts_project.kernel.database.replaced_migrations import exit_if_database_is_newer  # noqa: PLC0415 - as above

    exit_if_database_is_newer()
