"""The embedded broker as a kombu transport, for running without Redis.

kombu keeps exchanges and bindings in memory; messages are in the Store. Celery's remote control, events, gossip and
mingle need broadcast, which this transport does not support: see `worker_arguments`.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

from django.utils.functional import cached_property
from kombu.transport import virtual

from contacts_project.kernel.broker.store import Store, new_delivery_tag

DEAD_CLAIMS_INTERVAL_SECONDS = 5.0


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
