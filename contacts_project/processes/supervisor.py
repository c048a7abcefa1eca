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
from contacts_project.processes.watchdog import STACKS_SIGNAL

# A child that has not beaten for so long is replaced.
SILENT_SECONDS = 60.0
# Until its first beat it starts, which takes long on a small machine.
START_SECONDS = 600.0
# If this process itself has not looked for so long, the whole machine may have stood still.
_GAP_SECONDS = 5.0
_STACKS_SECONDS = 1.0


class Beats:
    """The beats of a child, which come over a pipe, by the monotonic clock."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.latest = time.monotonic()
        self.has_begun = False
        os.set_blocking(pipe, False)

    def read(self, now: float) -> None:
        # Empty, or closed by a child that has ended.
        with contextlib.suppress(BlockingIOError):
            while os.read(self.pipe, 4096):
                self.latest, self.has_begun = now, True

    def are_missing(self, now: float, silent_seconds: float) -> bool:
        self.read(now)
        return now - self.latest > (silent_seconds if self.has_begun else START_SECONDS)


class Supervisor:
    """Starts the children, each with `listener`, and replaces one that ends or has not beaten for `silent_seconds`."""

    def __init__(
        self, commands: dict[str, list[str]], listener: socket.socket, silent_seconds: float = SILENT_SECONDS
    ) -> None:
        self.commands = commands
        self.listener = listener
        self.silent_seconds = silent_seconds
        self.beats: dict[str, Beats] = {}
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
        """Replace children that end, or that do nothing any more, until a stop is requested."""
        looked_at = time.monotonic()
        while not self.stopping:
            time.sleep(0.3)
            now = time.monotonic()
            if now - looked_at > min(_GAP_SECONDS, self.silent_seconds / 2):
                # This process stood still, as all do while a machine is suspended or frozen: the others may need a
                # moment more than this one to beat again.
                for beats in self.beats.values():
                    beats.latest = now
            for name, child in self.children.items():
                if (
                    not self.stopping
                    and child.poll() is None
                    and self.beats[name].are_missing(now, self.silent_seconds)
                ):
                    self._end_silent(name, child)
                if not self.stopping and child.poll() is not None:
                    status = child.returncode
                    print(f"The {name} ended with {status}; starting it again.", flush=True)  # noqa: T201 - for people
                    time.sleep(1)
                    self.children[name] = self._start(name)
            looked_at = time.monotonic()

    def _end_silent(self, name: str, child: "subprocess.Popen[bytes]") -> None:
        text = f"The {name} has given no sign of life for {self.silent_seconds:g} seconds; ending it."
        print(text, flush=True)  # noqa: T201 - for people
        # A process whose interpreter is held writes the stacks of its threads; one that is stopped cannot.
        child.send_signal(STACKS_SIGNAL)
        time.sleep(_STACKS_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

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
        reading_end, writing_end = os.pipe()
        fds = (self.parent_pipe, self.listener.fileno(), writing_end)
        command = [*self.commands[name], "--parent", str(self.parent_pipe), "--beats", str(writing_end)]
        # For memory (docs/performance.md). By default glibc has an arena for each of many threads, and returns hardly
        # any of it. Python's allocator uses arenas of 1 MiB, which one small object keeps; malloc returns single pages.
        environment = {"MALLOC_ARENA_MAX": "2", "PYTHONMALLOC": "malloc", **os.environ}
        child = subprocess.Popen(command, env=environment, start_new_session=True, pass_fds=fds)  # noqa: S603 - ours
        os.close(writing_end)
        if name in self.beats:
            os.close(self.beats[name].pipe)
        self.beats[name] = Beats(reading_end)
        return child


class CannotListenError(Exception):
    """The address is in use, or does not belong to this machine. The message suggests another port."""


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a socket bound to the address; with `shared` (SO_REUSEPORT) other processes may bind to it as well.

    Raises CannotListenError.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Else a restart fails for a minute while connections of the previous process are in TIME_WAIT.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise CannotListenError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another: PORT=8001 make run"
        ) from None
    return listener


def commands(web_processes: int, listener: int) -> dict[str, list[str]]:
    """Return command lines by process name: web processes that share a listener, and one with worker and scheduler."""
    names = ["web", *(f"web {number}" for number in range(2, web_processes + 1))]
    web = [sys.executable, "-m", "contacts_project.server", "--fd", str(listener)]
    return {**dict.fromkeys(names, web), "worker": [sys.executable, "-m", "contacts_project.processes.background"]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contacts_project.processes.supervisor", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="the bound socket")
    parser.add_argument("--web", type=int, default=1, help="web processes")
    parser.add_argument(
        "--silent-seconds", type=float, default=SILENT_SECONDS, help="after which a process without a beat is replaced"
    )
    parser.add_argument("--url", required=True, help="where the service is, for people")
    options = parser.parse_args()
    listener = socket.socket(fileno=options.fd)
    print("Starting web, worker and scheduler ...", flush=True)  # noqa: T201 - for people
    supervisor = Supervisor(commands(options.web, options.fd), listener, options.silent_seconds)
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
