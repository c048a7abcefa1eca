"""The Celery application, and what it records of each task. Without REDIS_URL it uses the embedded broker."""

import os
import time
from typing import Any

from celery import Celery, Task
from celery.signals import beat_init, before_task_publish, celeryd_after_setup, setup_logging, task_postrun, task_prerun
from django.conf import settings
from django.utils.log import configure_logging

import contacts_project.kernel.broker  # noqa: F401 - registers the scheme `embedded` with kombu
from contacts_project.kernel.database.migrations import exit_if_database_is_newer
from contacts_project.kernel.logs import request_id
from contacts_project.kernel.metrics import Histogram
from contacts_project.kernel.outbound.exchanges import HOST_CALLS
from contacts_project.kernel.queue_windows import WindowedAMQP
from contacts_project.tracing import start_tracing

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
