"""The embedded Celery broker: messages in one SQLite file, for running without Redis.

Importing this module registers the URL scheme `embedded` with kombu. The file keeps messages across restarts and
kill -9. As with any broker here, the state of deferred work is in rows of the application, not in messages.

kombu keeps exchanges and bindings in memory; each message is a row. A consumer claims a message by writing its process
identity into `owner`, and deletes the row when the message is acknowledged. The claims of a dead owner are released, so
that kill -9 loses no message. All processes must run on one machine. Celery's remote control, events, gossip and mingle
need broadcast, which this transport does not support: `processes/background.py` starts workers without them.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.utils.functional import cached_property
from kombu.transport import TRANSPORT_ALIASES, virtual

from contacts_project.kernel.processes import start_of

SCHEME = "embedded"
TRANSPORT_ALIASES[SCHEME] = "contacts_project.kernel.broker:Transport"
DEAD_CLAIMS_INTERVAL_SECONDS = 5.0
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


def broker_url(file: Path) -> str:
    """Return the broker URL of a file. The host has no meaning; kombu warns if there is none."""
    return f"{SCHEME}://localhost{quote(str(file.resolve()))}"


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


class QoS(virtual.QoS):
    """Deletes acknowledged messages from the store at once."""

    channel: "Channel"

    def ack(self, delivery_tag: str) -> None:
        """Delete the message, and wake a consumer whose prefetch limit was reached."""
        self.channel.store.delete(delivery_tag)
        super().ack(delivery_tag)
        if self.channel.connection is not None:
            self.channel.connection.acknowledged.set()

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Release the message for another consumer, or delete it."""
        if not requeue:
            self.channel.store.delete(delivery_tag)
        super().reject(delivery_tag, requeue=requeue)


class Channel(virtual.Channel):
    """Queues as rows of the store."""

    QoS = QoS
    connection: "Transport"

    @property
    def store(self) -> Store:
        return self.connection.store

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        # One tag per queue, because an exchange may route one message to several queues.
        tag = new_delivery_tag()
        properties = {**message["properties"], "delivery_tag": tag}
        self.store.put(queue, tag, json.dumps({**message, "properties": properties}))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        self.connection.release_dead_claims()
        body = self.store.claim(queue)
        if body is None:
            raise Empty
        message: dict[str, Any] = json.loads(body)
        return message

    def _restore(self, message: Any) -> None:
        self.store.release(message.delivery_tag)

    def _size(self, queue: str) -> int:
        return self.store.size(queue)

    def _purge(self, queue: str) -> int:
        return self.store.purge(queue)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        """Return one message or None; with `no_ack` it is acknowledged at once."""
        message = super().basic_get(queue, **kwargs)
        if message is not None and no_ack:
            message.ack()
        return message

    def basic_consume(
        self,
        queue: str,
        no_ack: bool,
        callback: Callable[..., Any] | None = None,
        consumer_tag: str | None = None,
        **kwargs: Any,
    ) -> str:
        """Register a consumer; with `no_ack` each message is acknowledged before the callback is called."""

        # kombu would not track a message consumed with no_ack, and its row would never be deleted.
        def ack_and_deliver(message: Any) -> Any:
            message.ack()
            return callback(message) if callback else None

        handler = ack_and_deliver if no_ack else callback
        return super().basic_consume(queue, False, handler, consumer_tag, **kwargs)


class Transport(virtual.Transport):
    """`embedded://localhost/absolute/path/of/the/file`."""

    Channel = Channel
    polling_interval = 0.2
    driver_type = "embedded"
    driver_name = "sqlite3"
    connection_errors = (*virtual.Transport.connection_errors, sqlite3.OperationalError)
    # Bindings are shared by all connections of a process, as in kombu's other file transports.
    global_state = virtual.BrokerState()

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = self.global_state
        self._dead_claims_released_at = float("-inf")
        self.acknowledged = threading.Event()

    @cached_property
    def store(self) -> Store:
        """The store of the file in the URL."""
        # kombu strips one slash from the path of the URL, which is always absolute.
        return Store(Path("/", str(self.client.virtual_host if self.client else "")))

    def release_dead_claims(self) -> None:
        """Release messages of dead consumers, at most once per interval. Consumers call it whenever they poll."""
        now = time.monotonic()
        if now - self._dead_claims_released_at < DEAD_CLAIMS_INTERVAL_SECONDS:
            return
        self._dead_claims_released_at = now
        self.store.release_dead_claims()

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Wait for one message and deliver it. Raises TimeoutError.

        kombu's own version sleeps for the polling interval if there is nothing to deliver. This one is woken by an
        acknowledgement: a consumer at its prefetch limit would otherwise run only a few tasks per interval.
        """
        started = time.monotonic()
        while True:
            self.acknowledged.clear()
            try:
                if self.cycle is None:
                    return  # the transport was closed in the meantime
                self.cycle.get(self._deliver, timeout=timeout)
            except Empty:
                if timeout is not None and time.monotonic() - started >= timeout:
                    raise TimeoutError from None
                self.acknowledged.wait(min(self.polling_interval, timeout or self.polling_interval))
            else:
                return

    def close_connection(self, connection: Any) -> None:
        # kombu restores unacknowledged messages here, which needs the file, so it is closed last.
        super().close_connection(connection)
        self.store.close()

    def driver_version(self) -> str:
        return sqlite3.sqlite_version
