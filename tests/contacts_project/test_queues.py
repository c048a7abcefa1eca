"""Every task has a queue and every queue a worker; long tasks do not delay reminders."""

import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings

from contacts_project.celery import app
from contacts_project.processes.background import LONG_QUEUES, THREADS, QueuePool


def queue_of(task: str) -> str:
    route: Any = app.amqp.router.route({}, task)
    return str(route["queue"].name)


def test_long_tasks_and_reminders_have_separate_queues() -> None:
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if not name.startswith("celery.")]
    queues = {name: queue_of(name) for name in ours}
    assert {name for name, queue in queues.items() if queue == "reminders"} == {
        "notifications.tasks.due_scan",
        "notifications.tasks.plan",
        "notifications.tasks.send",
        "notifications.tasks.replan",
    }
    assert {name for name, queue in queues.items() if queue == "mail"} == {
        "accounts.tasks.send_account_mail",
        "accounts.tasks.sweep_account_mails",
    }
    assert {name for name, queue in queues.items() if queue == "sync"} == {
        "carddav.tasks.run_sync",
        "carddav.tasks.sync_edits",
        "carddav.tasks.sweep",
    }
    assert queues["people.tasks.geocode"] == queues["notifications.tasks.purge_deliveries"] == "chores"


def test_reminder_does_not_wait_for_long_tasks() -> None:
    """A reminder is sent while syncs use all threads that they may, and more of them wait."""
    pool: Any = QueuePool(limit=THREADS)
    release, reminded = threading.Event(), threading.Event()
    try:
        for _ in range(3 * THREADS):
            apply(pool, "sync", release.wait)
        apply(pool, "reminders", reminded.set)
        assert reminded.wait(10)
    finally:
        release.set()
        pool.on_stop()


def apply(pool: Any, queue: str, work: Callable[[], object]) -> None:
    """Hand a task to the pool as a worker does."""
    request = {"delivery_info": {"routing_key": queue}}
    pool.apply_async(lambda *args: work(), ("task", "id", request), callback=lambda result: None)


def test_every_long_queue_exists() -> None:
    assert set(settings.QUEUES) > LONG_QUEUES
