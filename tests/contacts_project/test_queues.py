"""Every task has a queue, and every queue threads and a prefetch window of its own."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from kombu import Connection

from accounts.models import User
from contacts_project.celery import app, set_up_worker
from contacts_project.kernel.broker import broker_url
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.exchanges import HOST_CALLS
from contacts_project.processes.queue_pool import MAX_IDLE_CONNECTIONS, THREADS, QueuePool
from tests.workers import redis_server


def queue_of(task: str) -> str:
    route: Any = app.amqp.router.route({}, task)
    return str(route["queue"].name)


def test_kinds_of_work_have_separate_queues() -> None:
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if not name.startswith("celery.")]
    queues = {name: queue_of(name) for name in ours}
    assert {name for name, queue in queues.items() if queue == "reminders"} == {
        "notifications.tasks.plan",
        "notifications.tasks.send",
        "notifications.tasks.replan",
    }
    assert {name for name, queue in queues.items() if queue == "mail"} == {
        "accounts.tasks.send_account_mail",
        "accounts.tasks.sweep_account_mails",
        "notifications.tasks.send_disabled_mails",
        "sharing.tasks.send_invitations",
    }
    assert {name for name, queue in queues.items() if queue == "sync"} == {
        "carddav.tasks.run_sync",
        "carddav.tasks.sync_edits",
        "meetings.tasks.read_calendar",
    }
    assert {name for name, queue in queues.items() if queue == "scan"} == {
        "notifications.tasks.due_scan",
        "carddav.tasks.sweep",
        "meetings.tasks.sweep",
        "sharing.tasks.sweep",
    }
    assert queues["sharing.tasks.carry"] == queues["sharing.tasks.carry_share"] == "sharing"
    assert queues["people.tasks.geocode"] == queues["notifications.tasks.purge_deliveries"] == "chores"


@pytest.fixture
def pool() -> Iterator[Any]:
    """The pool of a worker of all queues."""
    made: Any = QueuePool(limit=1)
    yield made
    made.on_stop()


@pytest.mark.parametrize("held", settings.QUEUES)
def test_no_queue_uses_up_the_threads_of_another(pool: Any, held: str) -> None:
    """A task of each other queue runs while one queue uses all threads that it may, and 1,500 more tasks wait."""
    release = threading.Event()
    others = {queue: threading.Event() for queue in settings.QUEUES if queue != held}
    try:
        for _ in range(1_500):
            apply(pool, held, release.wait)
        for queue, has_run in others.items():
            apply(pool, queue, has_run.set)
        assert [queue for queue, has_run in others.items() if not has_run.wait(120)] == []
    finally:
        release.set()


@pytest.mark.parametrize("queue", ["reminders", "sync"])
def test_tasks_that_wait_for_other_servers_give_their_place_back(pool: Any, queue: str) -> None:
    """As many slow servers as tasks may run at a time, and more, delay no task that has nothing to wait for."""
    threads = THREADS[queue]
    release, waiting, has_run = threading.Event(), threading.Semaphore(0), threading.Event()

    def wait_for_server() -> None:
        with external_wait():
            waiting.release()
            release.wait()

    try:
        for _ in range(threads.waiting):
            apply(pool, queue, wait_for_server)
        assert all(waiting.acquire(timeout=120) for _ in range(threads.waiting))
        apply(pool, queue, has_run.set)
        assert has_run.wait(120)
    finally:
        release.set()


def test_no_more_threads_wait_than_a_queue_may_have(pool: Any) -> None:
    """Beyond that number a task keeps its place while it waits: threads and memory stay bounded."""
    threads = THREADS["sync"]
    release, waiting, has_run = threading.Event(), threading.Semaphore(0), threading.Event()

    def wait_for_server() -> None:
        with external_wait():
            waiting.release()
            release.wait()

    try:
        for _ in range(threads.waiting + threads.running + 5):
            apply(pool, "sync", wait_for_server)
        apply(pool, "sync", has_run.set)
        assert all(waiting.acquire(timeout=120) for _ in range(threads.waiting + threads.running))
        assert not waiting.acquire(timeout=0.2)
        assert not has_run.is_set()
    finally:
        release.set()
    assert has_run.wait(120)


def apply(pool: Any, queue: str, work: Callable[[], object]) -> None:
    """Hand a task to the pool as a worker does."""
    request = {"delivery_info": {"routing_key": queue}}
    pool.apply_async(lambda *args: work(), ("task", "id", request), callback=lambda result: None)


@pytest.mark.parametrize("broker", ["embedded", "redis"])
def test_messages_of_one_queue_take_no_room_of_another(broker: str, tmp_path: Path) -> None:
    """1,500 messages of each other queue wait, none is acknowledged: each queue has the window, whatever the order."""
    with ExitStack() as stack:
        url = stack.enter_context(redis_server()) if broker == "redis" else broker_url(tmp_path / "broker.sqlite3")
        connection: Any = stack.enter_context(Connection(url))
        producer = connection.Producer()
        for queue in app.amqp.queues.values():
            for number in range(1_500 if queue.name != "mail" else 3):
                producer.publish(number, exchange=queue.exchange, routing_key=queue.routing_key, declare=[queue])
        consumers = app.amqp.TaskConsumer(connection, accept=["json"])
        received: Counter[str] = Counter()
        consumers.on_message = lambda message: received.update([message.delivery_info["routing_key"]])
        consumers.qos(prefetch_count=4)
        consumers.consume()
        windows = {"scan": 4, "sharing": 4, "reminders": 4, "mail": 3, "sync": 4, "chores": 4}
        while received.total() < sum(windows.values()):
            connection.drain_events(timeout=60)
        with pytest.raises(TimeoutError):  # no more come
            connection.drain_events(timeout=1)
        assert received == windows
        consumers.close()


@pytest.mark.django_db
def test_worker_of_an_earlier_unit_serves_the_due_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command names the queues that there were: reminders and mail."""
    monkeypatch.setattr(app.amqp.queues, "_consume_from", None)
    monkeypatch.setattr(HOST_CALLS, "threads", 0)
    app.amqp.queues.select(["reminders", "mail"])
    set_up_worker(instance=SimpleNamespace(concurrency=8))
    assert set(app.amqp.queues.consume_from) == {"reminders", "mail", "scan"}
    app.amqp.queues.select(["sync", "chores"])
    set_up_worker(instance=SimpleNamespace(concurrency=8))
    assert set(app.amqp.queues.consume_from) == {"sync", "chores"}


def test_every_queue_has_threads() -> None:
    assert set(settings.QUEUES) == set(THREADS)


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_threads_that_wait_keep_few_connections_to_the_database(pool: Any) -> None:
    """PostgreSQL has a hundred connections for all processes: those beyond eight are closed while they wait."""
    release, waiting = threading.Event(), threading.Semaphore(0)
    connected: list[bool] = []

    def wait_for_server() -> None:
        try:
            User.objects.count()
            with external_wait():
                connected.append(connections[DEFAULT_DB_ALIAS].connection is not None)
                waiting.release()
                release.wait()
            User.objects.count()
        finally:
            connections.close_all()

    number = THREADS["reminders"].waiting
    try:
        for _ in range(number):
            apply(pool, "reminders", wait_for_server)
        assert all(waiting.acquire(timeout=30) for _ in range(number))
    finally:
        release.set()
    kept = number if connections[DEFAULT_DB_ALIAS].vendor == "sqlite" else MAX_IDLE_CONNECTIONS
    assert sum(connected) == kept
