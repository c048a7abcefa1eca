"""What every process of the supervisor does at its start: exit with the supervisor, beat for it, set up Django."""

import argparse
import os
import signal
import threading
import time

from contacts_project.processes.watchdog import beat_to_supervisor

GRACE_SECONDS = 15


def add_pipes(parser: argparse.ArgumentParser) -> None:
    """Add the options by which the supervisor passes its pipes."""
    parser.add_argument("--parent", type=int, help="a pipe that ends with the process that started this one")
    parser.add_argument("--beats", type=int, help="a pipe to that process, which replaces this one if it is silent")


def set_up(options: argparse.Namespace) -> None:
    """Use the pipes, then set up Django. Ends the process if the database is of a newer version."""
    if options.parent is not None:
        exit_with_parent(options.parent)
    if options.beats is not None:
        beat_to_supervisor(options.beats)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
    import django  # noqa: PLC0415 - takes long: exit_with_parent must come first

    django.setup()
    from contacts_project.kernel.database.migrations import exit_if_database_is_newer  # noqa: PLC0415 - as above

    # Most of what the process does would fail.
    exit_if_database_is_newer()


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
