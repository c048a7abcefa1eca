"""The Celery application. Without REDIS_URL it uses the embedded broker."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, celeryd_after_setup, setup_logging
from django.conf import settings
from django.utils.log import configure_logging

import contacts_project.kernel.broker  # noqa: F401 - registers the scheme `embedded` with kombu
from contacts_project.kernel.database.migrations import exit_if_database_is_newer
from contacts_project.kernel.outbound.hosts import HOST_CALLS
from contacts_project.kernel.queue_windows import WindowedAMQP
from contacts_project.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
# Without Django's system checks: they would load every view, which costs a worker a fifth of its start, and memory.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("contacts_project", amqp=WindowedAMQP)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["contacts_project.operation"])  # its package is no Django app: autodiscovery would not find it


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
