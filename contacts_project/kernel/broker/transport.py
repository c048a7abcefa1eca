"""The embedded broker as a kombu transport, for running without Redis.

kombu keeps exchanges and bindings in memory; messages live in the Store. Celery's remote control, events,
gossip and mingle need broadcast, which this does not have: see `worker_arguments`.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import virtual

from contacts_project.kernel.broker.store import Store, new_tag

DEAD_OWNER_SECONDS = 5.0


class QoS(virtual.QoS):
    """Writes through: an acknowledged message leaves the store."""

    channel: "Channel"

    def ack(self, delivery_tag: str) -> None:
        """Deletes the message, and lets a consumer go on that had as many as it may hold."""
        self.channel.store.delete(delivery_tag)
        super().ack(delivery_tag)
        if self.channel.connection is not None:
            self.channel.connection.acknowledged.set()

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Gives the message back, or deletes it."""
        if not requeue:
            self.channel.store.delete(delivery_tag)
        super().reject(delivery_tag, requeue=requeue)


class Channel(virtual.Channel):
    """Queues as rows of the store."""

    QoS = QoS
    connection: "Transport"

    @property
    def store(self) -> Store:
        """The transport's store."""
        return self.connection.store

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        # A tag of its own for each queue, since one message may be routed to several.
        tag = new_tag()
        properties = {**message["properties"], "delivery_tag": tag}
        self.store.put(queue, tag, json.dumps({**message, "properties": properties}))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        self.connection.return_dead_claims()
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
        """One message, or None; with `no_ack` it is acknowledged at once."""
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
        """Consumes; with `no_ack` each message is acknowledged before it is handed over."""

        def acknowledged(message: Any) -> Any:
            message.ack()
            return callback(message) if callback else None

        handler = acknowledged if no_ack else callback
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
        self._looked_for_dead_at = float("-inf")
        self.acknowledged = threading.Event()

    @cached_property
    def store(self) -> Store:
        """The file the URL names."""
        # kombu takes one slash off the path; an absolute one is meant either way.
        return Store(Path("/", str(self.client.virtual_host if self.client else "")))

    def return_dead_claims(self) -> None:
        """Frees what dead consumers held, now and then; consumers call it as they poll."""
        now = time.monotonic()
        if now - self._looked_for_dead_at < DEAD_OWNER_SECONDS:
            return
        self._looked_for_dead_at = now
        self.store.release_dead()

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message, waiting for it. kombu sleeps where this wakes up at an acknowledgement: a consumer with
        a small prefetch would otherwise do a handful of tasks an interval."""
        started = time.monotonic()
        while True:
            self.acknowledged.clear()
            try:
                if self.cycle is None:
                    return  # closed meanwhile
                self.cycle.get(self._deliver, timeout=timeout)
            except Empty:
                if timeout is not None and time.monotonic() - started >= timeout:
                    raise TimeoutError from None
                self.acknowledged.wait(min(self.polling_interval, timeout or self.polling_interval))
            else:
                return

    def close_connection(self, connection: Any) -> None:
        """Gives back what was not acknowledged, then closes the file."""
        super().close_connection(connection)
        self.store.close()

    def driver_version(self) -> str:
        """SQLite's."""
        return sqlite3.sqlite_version
