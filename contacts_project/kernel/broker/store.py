"""The messages of the embedded broker: one SQLite file, one row a message.

A consumer claims a message by writing its owner into the row, and deletes the row when the message is
acknowledged. A row whose owner is dead is free again, so that kill -9 loses nothing. All processes run on
one machine.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from contacts_project.kernel.processes import start_of

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tag TEXT NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    owner TEXT
);
CREATE INDEX IF NOT EXISTS message_free ON message (queue, id) WHERE owner IS NULL;
CREATE INDEX IF NOT EXISTS message_claimed ON message (owner) WHERE owner IS NOT NULL;
"""
BUSY_SECONDS = 20
FREE = "FROM message WHERE queue = ? AND owner IS NULL"


class Store:
    """The file, for one process and any of its threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._owner = ""

    def put(self, queue: str, tag: str, body: str) -> None:
        """Adds a message at the end of the queue."""
        with self._open() as db:
            db.execute("INSERT INTO message (tag, queue, body) VALUES (?, ?, ?)", (tag, queue, body))

    def claim(self, queue: str) -> str | None:
        """The body of the oldest free message, now this process's own; None when there is none."""
        with self._open() as db:
            # Looked at first without the write lock: an idle worker only reads.
            if db.execute(f"SELECT 1 {FREE} LIMIT 1", (queue,)).fetchone() is None:
                return None
            with _immediate(db):
                row = db.execute(f"SELECT id, body {FREE} ORDER BY id LIMIT 1", (queue,)).fetchone()
                if row is None:
                    return None
                db.execute("UPDATE message SET owner = ? WHERE id = ?", (self._owner, row[0]))
            return str(row[1])

    def delete(self, tag: str) -> None:
        """Forgets a message for good."""
        with self._open() as db:
            db.execute("DELETE FROM message WHERE tag = ?", (tag,))

    def release(self, tag: str) -> None:
        """Gives a claimed message back, in its old place."""
        with self._open() as db:
            db.execute("UPDATE message SET owner = NULL WHERE tag = ?", (tag,))

    def release_dead(self) -> int:
        """Gives back the claims of processes that are no more; how many."""
        with self._open() as db:
            rows = db.execute("SELECT DISTINCT owner FROM message WHERE owner IS NOT NULL").fetchall()
            dead = [owner for (owner,) in rows if owner != self._owner and not _is_alive(owner)]
            free = "UPDATE message SET owner = NULL WHERE owner = ?"
            return sum(db.execute(free, (owner,)).rowcount for owner in dead)

    def size(self, queue: str) -> int:
        """How many messages are free."""
        with self._open() as db:
            return int(db.execute(f"SELECT count(*) {FREE}", (queue,)).fetchone()[0])

    def purge(self, queue: str) -> int:
        """Deletes the free messages; how many."""
        with self._open() as db:
            return int(db.execute(f"DELETE {FREE}", (queue,)).rowcount)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, one thread at a time; opened anew after a fork, which SQLite does not survive."""
        with self._lock:
            if self._connection is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._owner = f"{self._pid}:{start_of(self._pid)}"
                self._connection = _connect(self.path)
            yield self._connection


def new_tag() -> str:
    """A name for a message that no other has."""
    return uuid4().hex


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = NORMAL")
    db.executescript(SCHEMA)
    return db


@contextmanager
def _immediate(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _is_alive(owner: str) -> bool:
    """Whether the very process lives: a number can be given again, a number with its start time cannot."""
    pid, _, started = owner.partition(":")
    return start_of(int(pid)) == started
