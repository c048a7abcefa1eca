"""Ends a process that does nothing any more, so that whoever started it starts another one.

A regular expression that backtracks, or another loop in C, holds the interpreter: no thread runs, no signal handler, no
request. faulthandler's timer is a thread that needs no interpreter. It writes the stack of every thread to standard
error (file, line and function, no values) and ends the process with status 1. The supervisor, systemd
(`Restart=always`) or Docker (`restart: unless-stopped`) replaces it.

Each beat sets the timer anew. A web process beats on its event loop, which long streams, uploads and requests do not
hold; the worker in a thread.
"""

import asyncio
import faulthandler
import threading

HELD_SECONDS = 60.0
BEAT_SECONDS = 5.0


def beat() -> None:
    """Set the timer. It must not run out between two beats of a process that does nothing for HELD_SECONDS at most."""
    faulthandler.dump_traceback_later(HELD_SECONDS + BEAT_SECONDS, exit=True)


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
