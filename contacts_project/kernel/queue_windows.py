"""A worker's prefetch window for each queue, so that messages of one queue take no room of another.

Celery consumes all queues over one channel with one limit of messages that are not acknowledged: 1,500 syncs that wait
for a thread then keep reminders in the broker. Here each queue has a channel of its own, with the limit.
"""

from collections.abc import Callable
from typing import Any

from celery.app.amqp import AMQP
from kombu import Consumer


class QueueConsumers:
    """One consumer for each queue. Has the part of kombu's Consumer that Celery uses."""

    def __init__(self, consumers: list[Consumer]) -> None:
        self._consumers: list[Any] = consumers
        self._on_message: Callable[..., Any] | None = None

    @property
    def queues(self) -> list[Any]:
        return [queue for consumer in self._consumers for queue in consumer.queues]

    @property
    def channel(self) -> Any:
        return self._consumers[0].channel

    @property
    def on_message(self) -> Callable[..., Any] | None:
        return self._on_message

    @on_message.setter
    def on_message(self, handler: Callable[..., Any]) -> None:
        self._on_message = handler
        for consumer in self._consumers:
            consumer.on_message = handler

    def consume(self, no_ack: bool | None = None) -> None:
        for consumer in self._consumers:
            consumer.consume(no_ack)

    def qos(self, prefetch_size: int = 0, prefetch_count: int = 0, apply_global: bool = False) -> None:
        """Set the limit of each queue."""
        for consumer in self._consumers:
            consumer.qos(prefetch_size, prefetch_count, apply_global)

    def cancel_by_queue(self, queue: str) -> None:
        for consumer in self._consumers:
            consumer.cancel_by_queue(queue)

    def purge(self) -> int:
        """Delete all messages that wait, and return their number; for `app.control.purge`."""
        return sum(consumer.purge() for consumer in self._consumers)

    def cancel(self) -> None:
        for consumer in self._consumers:
            consumer.cancel()

    def close(self) -> None:
        """Stop consuming and close the channels, which gives back what is not acknowledged."""
        for consumer in self._consumers:
            consumer.cancel()
            consumer.channel.close()


class WindowedAMQP(AMQP):
    """Celery's AMQP, whose workers have a window for each queue."""

    def TaskConsumer(self, channel: Any, queues: Any = None, accept: Any = None, **options: Any) -> Any:  # noqa: N802
        """Called by a worker, with its connection."""
        accept = self.app.conf.accept_content if accept is None else accept
        names = queues or list(self.queues.consume_from.values())
        return QueueConsumers(
            [self.Consumer(channel.channel(), queues=[queue], accept=accept, **options) for queue in names]
        )
