"""The Celery application: workers and the scheduler. Without REDIS_URL it runs on the embedded broker."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, celeryd_after_setup, setup_logging
from django.conf import settings
from django.utils.log import configure_logging

import contacts_project.kernel.broker  # noqa: F401 - makes kombu know the scheme `embedded`
from contacts_project.kernel.outbound.hosts import HOST_CALLS
from contacts_project.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
# A worker would have Django check all, the URLs too, for which it loads every view: a fifth of its start, and memory.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("contacts_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["contacts_project.operation"])  # a package of an app, not an app


@setup_logging.connect
def keep_log_lines(**options: Any) -> None:
    """Workers and the scheduler write the lines of LOGGING. Connected, Celery does not set up its own."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)


@celeryd_after_setup.connect
def set_up_worker(*, instance: Any, **options: Any) -> None:
    """One host gets a share of a worker's threads."""
    HOST_CALLS.threads = instance.concurrency
    start_tracing("worker")


@beat_init.connect
def set_up_scheduler(**options: Any) -> None:
    """Beat in a process of its own; as a thread of a worker it is traced with that."""
    start_tracing("beat")
