"""What is noted of each task that a worker carries out: how long it took."""

import time
from typing import Any

from celery.signals import task_postrun, task_prerun

from contacts_project.kernel.metrics import Histogram

SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
TASKS = Histogram("contacts_task_seconds", "How long tasks took, failed ones too.", ("task",), SECONDS)
_STARTED = "contacts_started_at"


@task_prerun.connect
def note_start(*, task: Any, **kwargs: Any) -> None:
    setattr(task.request, _STARTED, time.perf_counter())


@task_postrun.connect
def note_end(*, task: Any, **kwargs: Any) -> None:
    if (started := getattr(task.request, _STARTED, None)) is not None:
        TASKS.observe(time.perf_counter() - started, task.name)
