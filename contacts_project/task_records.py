"""Metrics and log context of tasks: how long each takes, and the request that enqueued it."""

import time

from celery import Task
from celery.signals import before_task_publish, task_postrun, task_prerun

from contacts_project.kernel.logs import request_id
from contacts_project.kernel.metrics import Histogram

BUCKET_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
TASK_SECONDS = Histogram("contacts_task_seconds", "How long tasks took, failed ones too.", ("task",), BUCKET_SECONDS)
_STARTED_ATTRIBUTE, _REQUEST_ID_HEADER = "contacts_started_at", "contacts_request_id"


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
