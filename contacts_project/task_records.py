"""What is noted of each task: how long it took, and the request that it follows from."""

import time
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun

from contacts_project.kernel.api.logs import request_id
from contacts_project.kernel.metrics import Histogram

SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
TASKS = Histogram("contacts_task_seconds", "How long tasks took, failed ones too.", ("task",), SECONDS)
_STARTED, _HEADER = "contacts_started_at", "contacts_request_id"


@before_task_publish.connect
def hand_over_request_id(*, headers: dict[str, Any], **kwargs: Any) -> None:
    """The lines of a task name the request, or the task, that had it done."""
    headers[_HEADER] = request_id.get()


@task_prerun.connect
def note_start(*, task: Any, **kwargs: Any) -> None:
    setattr(task.request, _STARTED, time.perf_counter())
    if (follows_from := _request_of(task)) is not None:
        request_id.set(follows_from)


@task_postrun.connect
def note_end(*, task: Any, **kwargs: Any) -> None:
    if (started := getattr(task.request, _STARTED, None)) is not None:
        TASKS.observe(time.perf_counter() - started, task.name)
    if _request_of(task) is not None:
        request_id.set("-")


def _request_of(task: Any) -> str | None:
    found: str | None = vars(task.request).get(_HEADER) or (task.request.headers or {}).get(_HEADER)
    return found
