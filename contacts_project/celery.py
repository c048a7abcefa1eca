"""The Celery application: how its workers fetch messages, and what it records of each task.

Without REDIS_URL it uses the embedded broker. Celery consumes all queues over one channel with one limit of messages
that are not acknowledged: 1,500 syncs that wait for a thread then keep reminders in the broker. Here each queue has a
channel of its own, with the limit, so that messages of one queue take no room of another.
"""

import os
import time
from collections.abc import Callable
from typing import Any

from celery import Celery, Task
from celery.app.amqp import AMQP
from celery.signals import beat_init, before_task_publish, celeryd_after_setup, setup_logging, task_postrun, task_prerun
from django.conf import settings
from django.utils.log import configure_logging
from kombu import Consumer

import contacts_project.kernel.broker  # noqa: F401 - registers the scheme `embedded` with kombu
from contacts_project.kernel.database.migrations import exit_if_database_is_newer
from contacts_project.kernel.logs import request_id
from contacts_project.kernel.metrics import Histogram
from contacts_project.kernel.outbound.exchanges import HOST_CALLS
from contacts_project.tracing import start_tracing


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


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
# Without Django's system checks: they would load every view, which costs a worker a fifth of its start, and memory.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("contacts_project", amqp=WindowedAMQP)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["contacts_project.operation"])  # its package is no Django app: autodiscovery would not find it

BUCKET_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
TASK_SECONDS = Histogram("contacts_task_seconds", "How long tasks took, failed ones too.", ("task",), BUCKET_SECONDS)
_STARTED_ATTRIBUTE, _REQUEST_ID_HEADER = "contacts_started_at", "contacts_request_id"


@setup_logging.connect
def use_service_logging(**options: object) -> None:
    """Use LOGGING in workers and the scheduler. With a receiver of this signal Celery configures no logging itself."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)


@celeryd_after_setup.connect
def set_up_worker(*, instance: Any, **options: object) -> None:
    """Tell the limit of calls per host how many threads the worker has, and start tracing."""
    exit_if_database_is_newer()
    HOST_CALLS.threads = instance.concurrency
    # A unit of an earlier version names the queues of its worker, without this one: nobody would run the due scan.
    queues = app.amqp.queues
    if "reminders" in queues.consume_from and "scan" not in queues.consume_from:
        queues.select_add(queues["scan"])
    start_tracing("worker")


@beat_init.connect
def set_up_scheduler(**options: object) -> None:
    """Only for `celery beat` as a separate process: in our worker the scheduler is a thread."""
    exit_if_database_is_newer()
    start_tracing("beat")


@before_task_publish.connect
def add_request_id(*, headers: dict[str, object], **kwargs: object) -> None:
    """Pass the request id on: the log lines of a task contain the id of the request that enqueued it."""
    headers[_REQUEST_ID_HEADER] = request_id.get()


@task_prerun.connect
def record_start(*, task: "Task[..., object]", **kwargs: object) -> None:
    setattr(task.request, _STARTED_ATTRIBUTE, time.perf_counter())
    if (enqueued_by := _request_id_of(task)) is not None:
        request_id.set(enqueued_by)


@task_postrun.connect
def record_end(*, task: "Task[..., object]", **kwargs: object) -> None:
    if (started := getattr(task.request, _STARTED_ATTRIBUTE, None)) is not None:
        TASK_SECONDS.observe(time.perf_counter() - started, task.name)
    # Only if it was set: a task that is called directly keeps the id of its caller.
    if _request_id_of(task) is not None:
        request_id.set("-")


def _request_id_of(task: "Task[..., object]") -> str | None:
    # Celery merges custom headers into the attributes of the request, or keeps them in `headers`.
    headers = task.request.headers or {}
    found: str | None = vars(task.request).get(_REQUEST_ID_HEADER) or headers.get(_REQUEST_ID_HEADER)
    return found
