"""`python -m contacts_project.processes.supervisor`: starts the processes of an instance and keeps them alive.

`manage.py serve` replaces itself by this program once the database is prepared. It does not import Django, which would
occupy 100 MB of memory while it waits.
"""

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from types import FrameType

from contacts_project.processes.child import GRACE_SECONDS


class Supervisor:
    """Starts the children, each with `listener`, and restarts one that dies."""

    def __init__(self, commands: dict[str, list[str]], listener: socket.socket) -> None:
        self.commands = commands
        self.listener = listener
        self.stopping = False
        # Nothing is ever written to it. It closes when this process ends, even if killed: the children wait for that
        # (processes.child).
        self.parent_pipe, self._writing_end = os.pipe()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle_stop_signal)
        self.children = {name: self._start(name) for name in commands}

    def wait_for_web(self) -> bool:
        """Wait until the web process accepts connections; returns False if it ended, or if a stop was requested."""
        address = self.listener.getsockname()[:2]
        while not self.stopping and self.children["web"].poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(address, timeout=1):
                return True
            time.sleep(0.1)
        return False

    def watch(self) -> None:
        """Restart children that end, until a stop is requested."""
        while not self.stopping:
            time.sleep(0.3)
            for name, child in self.children.items():
                if child.poll() is not None and not self.stopping:
                    # The watchdog of a process that answers nothing ends it with 1, below the stacks of its threads.
                    status = child.returncode
                    print(f"The {name} ended with {status}; starting it again.", flush=True)  # noqa: T201 - for people
                    time.sleep(1)
                    self.children[name] = self._start(name)

    def end(self) -> None:
        """Stop the children. They finish what they are doing, and are killed after GRACE_SECONDS."""
        for child in self.children.values():
            child.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self.children.values():
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                # The whole process group, with what the child has started. Killing is safe: work in progress is a row
                # with a state, which the next run continues.
                os.killpg(child.pid, signal.SIGKILL)

    def _handle_stop_signal(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def _start(self, name: str) -> "subprocess.Popen[bytes]":
        """Start a child in a session of its own: Ctrl-C then reaches only this process, which stops the children."""
        fds = (self.parent_pipe, self.listener.fileno())
        command = [*self.commands[name], "--parent", str(self.parent_pipe)]
        # For memory (docs/performance.md). By default glibc has an arena for each of many threads, and returns hardly
        # any of it. Python's allocator uses arenas of 1 MiB, which one small object keeps; malloc returns single pages.
        environment = {"MALLOC_ARENA_MAX": "2", "PYTHONMALLOC": "malloc", **os.environ}
        return subprocess.Popen(command, env=environment, start_new_session=True, pass_fds=fds)  # noqa: S603 - ours


def commands(web_processes: int, listener: int) -> dict[str, list[str]]:
    """Return command lines by process name: web processes that share a listener, and one with worker and scheduler."""
    names = ["web", *(f"web {number}" for number in range(2, web_processes + 1))]
    web = [sys.executable, "-m", "contacts_project.server", "--fd", str(listener)]
    return {**dict.fromkeys(names, web), "worker": [sys.executable, "-m", "contacts_project.processes.background"]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contacts_project.processes.supervisor", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="the bound socket")
    parser.add_argument("--web", type=int, default=1, help="web processes")
    parser.add_argument("--url", required=True, help="where the service is, for people")
    options = parser.parse_args()
    listener = socket.socket(fileno=options.fd)
    print("Starting web, worker and scheduler ...", flush=True)  # noqa: T201 - for people
    supervisor = Supervisor(commands(options.web, options.fd), listener)
    try:
        if supervisor.wait_for_web():
            text = f"Ready at {options.url} (interactive API docs: {options.url}/api/docs). Stop with Ctrl-C."
            print(text, flush=True)  # noqa: T201 - for people
            supervisor.watch()
    finally:
        supervisor.end()
    if supervisor.stopping:
        return 0
    print("The web process ended by itself; its last lines are above.", file=sys.stderr)  # noqa: T201 - for people
    return 1


if __name__ == "__main__":
    sys.exit(main())
