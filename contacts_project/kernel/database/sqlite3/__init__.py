"""Django's backend for SQLite, with a queue of those who write to a file: whoever has waited longest is next.

SQLite's own waiters poll for the write lock, with pauses that grow to 100 ms. It goes to whoever asks at the right
moment, so that a long import whose batches follow each other starves a reminder. Here the writers of a process wait in
line. Between processes they take turns: whoever waits for SQLite's lock holds the turn until it has got it, and the
process that wrote last lets any other that waits go first. Two processes alternate; among three or more that wait, none
that has just written comes before one that has not. Code that does not depend on its write waits less long:
`limit_lock_wait`, `skip_if_locked`. Django loads `base`.
"""

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import OperationalError, connection

from contacts_project.kernel.errors import is_unavailable

_MIN_POLL_SECONDS, _MAX_POLL_SECONDS = 0.0005, 0.002
# The longest time for which the last writer lets others go first: one of them may be a process that was stopped.
_MAX_YIELD_SECONDS = 0.25


_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


class WriteQueue:
    """The writers of this process for one database file, and its turn among processes. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: deque[threading.Event] = deque()
        # Locked by whoever waits for SQLite's lock. Contains the process that had it last.
        self._turn = os.open(f"{file}-turn", _FLAGS, 0o600)
        # Locked, shared, by whoever waits for the turn.
        self._waiters = os.open(f"{file}-waiters", _FLAGS, 0o600)
        self._process = os.getpid().to_bytes(8)

    def acquire(self, seconds: float) -> None:
        """Wait for the place of the writer, and for the turn of this process. Raises OperationalError."""
        give_up_at = time.monotonic() + seconds
        self._take_place(seconds)
        try:
            self._take_turn(give_up_at)
        except BaseException:
            self.release()
            raise

    def pass_turn(self) -> None:
        """Let another process wait for SQLite's lock: this one has it, or has given up."""
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def release(self) -> None:
        """Give the place to the writer that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False

    def _take_place(self, seconds: float) -> None:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            called = threading.Event()
            self._waiting.append(called)
        if called.wait(seconds):
            return
        with self._lock:
            if not called.is_set():  # else it was called between the end of the wait and here
                self._waiting.remove(called)
                raise OperationalError("database is locked")

    def _take_turn(self, give_up_at: float) -> None:
        now = time.monotonic()
        _poll(lambda: not self._wrote_last() or self._is_alone(), min(give_up_at, now + _MAX_YIELD_SECONDS))
        if not self._try_turn():
            fcntl.flock(self._waiters, fcntl.LOCK_SH)
            try:
                has_turn = _poll(self._try_turn, give_up_at)
            finally:
                fcntl.flock(self._waiters, fcntl.LOCK_UN)
            if not has_turn:
                raise OperationalError("database is locked")
        if not self._wrote_last():
            os.pwrite(self._turn, self._process, 0)

    def _try_turn(self) -> bool:
        return _try_lock(self._turn)

    def _wrote_last(self) -> bool:
        return os.pread(self._turn, len(self._process), 0) == self._process

    def _is_alone(self) -> bool:
        """Whether no other process waits for the turn."""
        if not _try_lock(self._waiters):
            return False
        fcntl.flock(self._waiters, fcntl.LOCK_UN)
        return True


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _poll(is_true: Callable[[], bool], give_up_at: float) -> bool:
    pause = _MIN_POLL_SECONDS
    while not is_true():
        if time.monotonic() + pause > give_up_at:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _MAX_POLL_SECONDS)
    return True


_queues: dict[tuple[int, str], WriteQueue] = {}
_queues_lock = threading.Lock()


def queue_of(file: str, make: Callable[[Path], WriteQueue] = WriteQueue) -> WriteQueue:
    """The queue of this process for a database file. A forked child gets another one than its parent."""
    key = os.getpid(), file
    with _queues_lock:
        if key not in _queues:
            _queues[key] = make(Path(file))
        return _queues[key]


_OPTIONAL_UPDATE_SECONDS = 0.1


@contextmanager
def limit_lock_wait(seconds: float) -> Iterator[None]:
    """Within this context, wait at most `seconds` for the write lock.

    Has no effect on PostgreSQL, where writes of different rows do not wait for each other.
    """
    if connection.vendor != "sqlite":
        yield
        return
    database: Any = connection
    usual_wait = database.max_wait_seconds
    with connection.cursor() as cursor:
        usual = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {min(usual, int(seconds * 1000))}")
        database.max_wait_seconds = min(usual_wait, seconds)  # in the queue of writers
        try:
            yield
        finally:
            database.max_wait_seconds = usual_wait
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


@contextmanager
def skip_if_locked() -> Iterator[None]:
    """Skip the UPDATE within this context if the write lock is held.

    For an UPDATE that only records a use, such as `last_used_at`: a read must not fail or wait for it.
    """
    try:
        with limit_lock_wait(_OPTIONAL_UPDATE_SECONDS):
            yield
    except OperationalError as error:
        if not is_unavailable(error):
            raise
