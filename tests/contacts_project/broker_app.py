"""A Celery application for the worker processes of test_broker: each task appends its number to a file."""

import os
import time
from pathlib import Path
from typing import Any

from celery import Celery

from contacts_project.kernel.broker import broker_url
from tests.contacts_project.broker_settings import CELERY_SETTINGS

app = Celery("broker_app", broker=broker_url(Path(os.environ["BROKER_FILE"])))
app.conf.update(CELERY_SETTINGS)


@app.task
def append(number: int, seconds: float = 0.02) -> None:
    """Works for a moment, then writes the number."""
    time.sleep(seconds)
    with Path(os.environ["DONE_FILE"]).open("a") as done:
        done.write(f"{number}\n")


@app.task(bind=True, max_retries=2)
def fail_once(self: Any, number: int) -> None:
    """Fails the first time, to be tried again after a countdown."""
    if self.request.retries == 0:
        raise self.retry(countdown=0.1)
    append(number, 0)
