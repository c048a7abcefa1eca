"""Has a process that does nothing any more replaced.

A regular expression that backtracks, or another loop in C, holds the interpreter: no thread runs, no signal handler, no
request. A process that is stopped, frozen or swapped out does nothing at all. So each process beats: a web process on
its event loop, which long streams, uploads and requests do not hold; the worker in a thread.

- Beats go to the supervisor, if that has started the process. It replaces a process that has not beaten for a minute,
  and first asks for the stacks of its threads by STACKS_SIGNAL.
- Otherwise each beat sets faulthandler's timer anew, a thread that needs no interpreter. It writes the stacks to
  standard error (file, line and function, no values) and ends the process with status 1; systemd (`Restart=always`) or
  Docker (`restart: unless-stopped`) replaces it. A stopped process has no timer either: systemd, to which beats go as
  well, ends it by `WatchdogSec`.
"""

import asyncio
import faulthandler
import os
import signal
import socket
import threading
from contextlib import suppress

HELD_SECONDS = 60.0
BEAT_SECONDS = 5.0
STACKS_SIGNAL = signal.SIGUSR2

_pipes: list[int] = []  # to the supervisor, if there is one


def beat_to_supervisor(pipe: int) -> None:
    """Beat over this pipe from now on."""
    # A supervisor that is stopped itself does not read: nobody waits for it.
    os.set_blocking(pipe, False)
    faulthandler.register(STACKS_SIGNAL, all_threads=True)
    _pipes.append(pipe)


def beat() -> None:
    """Say that this process lives."""
    if _pipes:
        with suppress(OSError):
            os.write(_pipes[0], b".")
        return
    # It must not run out between two beats of a process that does nothing for HELD_SECONDS at most.
    faulthandler.dump_traceback_later(HELD_SECONDS + BEAT_SECONDS, exit=True)
    _beat_to_systemd()


def _beat_to_systemd() -> None:
    """sd_notify(3): only where a service has WatchdogSec is there a socket that takes it."""
    address = dict(os.environ).pop("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.setblocking(False)
            # An abstract address begins with a zero byte, which the environment cannot hold.
            notify.sendto(b"WATCHDOG=1", "\0" + address[1:] if address.startswith("@") else address)


def stop_watching() -> None:
    """For the end of the process, which may take its time."""
    faulthandler.cancel_dump_traceback_later()


async def watch_event_loop() -> None:
    """Beat on this event loop until the task is cancelled."""
    while True:
        beat()
        await asyncio.sleep(BEAT_SECONDS)


def watch_interpreter() -> threading.Event:
    """Beat in a thread, until the returned event is set."""
    stopping = threading.Event()

    def watch() -> None:
        while not stopping.is_set():
            beat()
            stopping.wait(BEAT_SECONDS)
        stop_watching()

    threading.Thread(target=watch, name="watchdog", daemon=True).start()
    return stopping
