"""Storage of the embedded broker: one SQLite file with one row per message.

A consumer claims a message by writing its process identity into `owner`, and deletes the row when the message is
acknowledged. The claims of a dead owner are released, so that kill -9 loses no message. All processes must run on
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
BUSY_TIMEOUT_SECONDS = 20
_FREE_MESSAGES = "FROM message WHERE queue = ? AND owner IS NULL"


class Store:
    """The message file. Thread-safe; survives a fork."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._owner = ""

    def put(self, queue: str, tag: str, body: str) -> None:
        """Append a message to the queue. `tag` is its unique delivery tag."""
        with self._open() as db:
            db.execute("INSERT INTO message (tag, queue, body) VALUES (?, ?, ?)", (tag, queue, body))

    def claim(self, queue: str) -> str | None:
        """Claim the oldest free message for this process and return its body; None if there is none."""
        with self._open() as db:
            # Checked without the write lock first, because idle workers poll several times a second.
            if db.execute(f"SELECT 1 {_FREE_MESSAGES} LIMIT 1", (queue,)).fetchone() is None:
                return None
            with _write_transaction(db):
                row = db.execute(f"SELECT id, body {_FREE_MESSAGES} ORDER BY id LIMIT 1", (queue,)).fetchone()
                if row is None:
                    return None
                db.execute("UPDATE message SET owner = ? WHERE id = ?", (self._owner, row[0]))
            return str(row[1])

    def delete(self, tag: str) -> None:
        with self._open() as db:
            db.execute("DELETE FROM message WHERE tag = ?", (tag,))

    def release(self, tag: str) -> None:
        """Make a claimed message free again. It keeps its place in the queue."""
        with self._open() as db:
            db.execute("UPDATE message SET owner = NULL WHERE tag = ?", (tag,))

    def release_dead_claims(self) -> int:
        """Release the claims of processes that have ended, and return their number."""
        with self._open() as db:
            rows = db.execute("SELECT DISTINCT owner FROM message WHERE owner IS NOT NULL").fetchall()
            dead = [owner for (owner,) in rows if owner != self._owner and not _is_alive(owner)]
            release = "UPDATE message SET owner = NULL WHERE owner = ?"
            return sum(db.execute(release, (owner,)).rowcount for owner in dead)

    def size(self, queue: str) -> int:
        """Return the number of free messages."""
        with self._open() as db:
            return int(db.execute(f"SELECT count(*) {_FREE_MESSAGES}", (queue,)).fetchone()[0])

    def purge(self, queue: str) -> int:
        """Delete the free messages, and return their number."""
        with self._open() as db:
            return int(db.execute(f"DELETE {_FREE_MESSAGES}", (queue,)).rowcount)

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        with self._lock:
            # After a fork the connection belongs to the parent: closing it here would drop the parent's file locks.
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection, one thread at a time. Reopened after a fork: SQLite connections must not cross one."""
        with self._lock:
            if self._connection is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._owner = f"{self._pid}:{start_of(self._pid)}"
                self._connection = _connect(self.path)
            yield self._connection


def new_delivery_tag() -> str:
    """Return a new unique delivery tag."""
    return uuid4().hex


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = NORMAL")
    db.executescript(SCHEMA)
    return db


@contextmanager
def _write_transaction(db: sqlite3.Connection) -> Iterator[None]:
    # IMMEDIATE takes the write lock before the read, so that two consumers cannot claim the same message.
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _is_alive(owner: str) -> bool:
    """Whether the owner still runs. The start time tells it from a later process with the same pid."""
    pid, _, started = owner.partition(":")
    return start_of(int(pid)) == started
