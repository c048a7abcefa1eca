"""Requests leave no objects behind, and large ones return memory to the system, once for several that end together.

When no more requests come, the threads end with what they hold.
"""

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable

import pytest
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.urls import resolve

from contacts_project.server import threads
from contacts_project.server.request_head import QueueKey
from contacts_project.server.thread_queues import ThreadQueue


def count_releases(monkeypatch: pytest.MonkeyPatch, requests: int) -> int:
    """End this number of large requests together; returns how often memory is released."""
    done: list[None] = []
    monkeypatch.setattr(threads, "release_memory", lambda: done.append(None))
    monkeypatch.setattr(threads, "RELEASE_DELAY_SECONDS", 0)

    async def end_all() -> None:
        releaser = threads.MemoryReleaser(ThreadQueue("test", 1))
        for _ in range(requests):
            releaser.schedule()
        await asyncio.sleep(0.01)
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(end_all())
    return len(done)


def test_memory_is_released_once_for_large_requests_that_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_releases(monkeypatch, 3) == 1


class Caller:
    """Sends requests to one queue, each of which opens the database connection of its thread."""

    def __init__(self, threads: int = 4) -> None:
        self.queue = ThreadQueue("test", threads)
        self.key = QueueKey("caller", b"/path")
        self.threads: set[threading.Thread] = set()
        self.databases: list[BaseDatabaseWrapper] = []

    async def request(self, until: threading.Event | None = None) -> None:
        def work() -> None:
            self.threads.add(threading.current_thread())
            database = connections[DEFAULT_DB_ALIAS]
            database.ensure_connection()
            self.databases.append(database)
            if until:
                until.wait(10)

        await self.queue.acquire(self.key)
        await self.queue.run(self.key, work)
        self.queue.release(self.key)


def run_with_idle_time(monkeypatch: pytest.MonkeyPatch, scenario: Callable[[Caller], Awaitable[None]]) -> None:
    """Run the scenario with an idle time of an instant. Memory is not released after a time alone."""
    monkeypatch.setattr(threads, "RELEASE_DELAY_SECONDS", 1000)
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.05)
    caller = Caller()

    async def run() -> None:
        await scenario(caller)
        await asyncio.get_running_loop().shutdown_default_executor()

    try:
        asyncio.run(run())
    finally:
        caller.queue.pool.end()


async def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


@pytest.mark.django_db(transaction=True)
def test_all_idle_threads_end_with_their_connections_in_the_next_idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(caller: Caller) -> None:
        finish = threading.Event()
        requests = [asyncio.ensure_future(caller.request(finish)) for _ in range(2)]
        await wait_until(lambda: len(caller.databases) == 2)
        finish.set()
        await asyncio.gather(*requests)
        assert all(database.connection for database in caller.databases)
        threads.MemoryReleaser(caller.queue).schedule()
        await wait_until(lambda: not any(thread.is_alive() for thread in caller.threads))
        await wait_until(lambda: not any(database.connection for database in caller.databases))
        await caller.request()
        assert len(caller.threads) == 3

    run_with_idle_time(monkeypatch, scenario)


@pytest.mark.django_db(transaction=True)
def test_threads_do_not_end_while_one_of_them_runs_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(caller: Caller) -> None:
        finish = threading.Event()
        request = asyncio.ensure_future(caller.request(finish))
        await wait_until(lambda: len(caller.databases) == 1)
        pool = caller.queue.pool
        threads.MemoryReleaser(caller.queue).schedule()
        await asyncio.sleep(0.3)
        assert caller.queue.pool is pool
        finish.set()
        await request
        await wait_until(lambda: caller.queue.pool is not pool)

    run_with_idle_time(monkeypatch, scenario)


def test_threads_do_not_end_while_requests_keep_coming(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(caller: Caller) -> None:
        releaser, pool = threads.MemoryReleaser(caller.queue), caller.queue.pool
        releaser.schedule()
        for _ in range(3):
            caller.queue.requests_started += 1
            started = releaser._count_started()
            releaser._end_threads_if_idle(started - 1)
            assert caller.queue.pool is pool
        releaser._end_threads_if_idle(caller.queue.requests_started)
        assert caller.queue.pool is not pool

    run_with_idle_time(monkeypatch, scenario)


def test_requests_with_many_bytes_or_much_cpu_time_are_large() -> None:
    assert threads.is_large(threads.LARGE_BYTES, 0.0)
    assert threads.is_large(0, threads.LARGE_CPU_SECONDS)
    assert not threads.is_large(threads.LARGE_BYTES - 1, threads.LARGE_CPU_SECONDS / 2)


def test_memory_can_be_released_on_this_system() -> None:
    threads.release_memory()


def test_resolved_route_keeps_no_view_alive() -> None:
    route = resolve("/api/dashboard/graph").func
    view = weakref.ref(route.cls(**route.initkwargs))  # type: ignore[attr-defined]  # as_view() of DRF sets both
    gc.collect()
    assert view() is None
