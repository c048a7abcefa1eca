"""The queue for request threads: who gets a thread next."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from contacts_project.server import thread_queues
from contacts_project.server.request_head import QueueKey
from contacts_project.server.thread_queues import LARGE_REQUESTS, REQUESTS, REQUESTS_TO_PATH, ThreadQueue

MAX_PER_CALLER, MAX_PER_PATH = int(REQUESTS.per_key), int(REQUESTS_TO_PATH.per_key)
MAX_LARGE_RUNNING = int(LARGE_REQUESTS.total)


def run_scenario(scenario: Callable[[ThreadQueue], Awaitable[None]], threads: int = 4) -> None:
    queue = ThreadQueue("test", threads)
    asyncio.run(scenario(queue))  # type: ignore[arg-type]  # an async function's awaitable is a coroutine
    queue.pool.end()


async def admission_order(queue: ThreadQueue, keys: list[QueueKey]) -> list[QueueKey]:
    """Acquire a thread for all keys at once, each releasing it immediately; returns the order of admission."""
    admitted: list[QueueKey] = []

    async def one(key: QueueKey) -> None:
        await queue.acquire(key)
        admitted.append(key)  # not after `run`: the system decides which of several threads ends first
        await queue.run(key, lambda: None)
        queue.release(key)

    await asyncio.gather(*map(one, keys))
    return admitted


def test_callers_take_turns_and_so_do_the_paths_of_a_caller() -> None:
    greedy, other, aside = QueueKey("greedy", b"/all"), QueueKey("other", b"/one"), QueueKey("greedy", b"/one")

    async def scenario(queue: ThreadQueue) -> None:
        admitted = await admission_order(queue, [greedy] * 20 + [other, aside])
        assert admitted.index(other) <= 4
        assert admitted.index(aside) <= 6

    run_scenario(scenario)


def test_one_caller_and_path_cannot_take_all_threads() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        await asyncio.gather(*(queue.acquire(QueueKey("greedy", b"/all")) for _ in range(2)))
        third = asyncio.ensure_future(queue.acquire(QueueKey("greedy", b"/all")))
        await asyncio.wait_for(queue.acquire(QueueKey("greedy", b"/one")), 60)
        assert not third.done()
        queue.release(QueueKey("greedy", b"/all"))
        await asyncio.wait_for(third, 60)

    run_scenario(scenario)


def test_running_requests_per_caller_are_limited() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 100
        for number in range(MAX_PER_CALLER):
            await queue.acquire(QueueKey("greedy", b"%d" % number))
        late = asyncio.ensure_future(queue.acquire(QueueKey("greedy", b"late")))
        await asyncio.wait_for(
            queue.acquire(QueueKey("other", b"late")), 60
        )  # wait_for runs it in a new task, so `late` runs first
        assert not late.done()
        late.cancel()

    run_scenario(scenario)


def test_running_requests_per_path_are_limited() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 100
        queries = (QueueKey("many", b"/all", b"%d" % number) for number in range(MAX_PER_PATH + 1))
        *begun, late = [asyncio.ensure_future(queue.acquire(key)) for key in queries]
        await asyncio.wait_for(queue.acquire(QueueKey("many", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        late.cancel()

    run_scenario(scenario)


def test_large_requests_leave_threads_for_small_ones() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        large = [QueueKey(f"reader {number}", b"/all") for number in range(MAX_LARGE_RUNNING + 1)]
        for key in large:
            await queue.acquire(key)
            await queue.run(key, lambda: None)
            queue.release(key, was_large=True)
        *begun, late = [asyncio.ensure_future(queue.acquire(key)) for key in large]
        await asyncio.wait_for(queue.acquire(QueueKey("other", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        await queue.run(large[0], lambda: None)  # the response is generated; the client may read it slowly
        await asyncio.wait_for(late, 60)

    run_scenario(scenario)


def test_large_request_is_admitted_after_its_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "LARGE_REQUESTS", replace(thread_queues.LARGE_REQUESTS, seconds=0))

    async def scenario(queue: ThreadQueue) -> None:
        large = [QueueKey(f"reader {number}", b"/all") for number in range(MAX_LARGE_RUNNING + 1)]
        queue.large_paths = dict.fromkeys((key.caller, key.path) for key in large)
        await asyncio.wait_for(asyncio.gather(*map(queue.acquire, large)), 60)
        assert queue.overdue == set()

    run_scenario(scenario)


def test_each_waiter_has_its_own_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even for two waiters with the same key, whose path became large while they waited."""
    monkeypatch.setattr(thread_queues, "LARGE_REQUESTS", replace(thread_queues.LARGE_REQUESTS, seconds=0))

    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 0
        queue.running[QueueKey("reader", b"/all")] = MAX_LARGE_RUNNING
        queue.large_paths["reader", b"/all"] = None
        twice = QueueKey("twice", b"/all")
        waiting = [asyncio.ensure_future(queue.acquire(twice)) for _ in range(2)]
        while len(queue.overdue) < 2:  # noqa: ASYNC110 - no event signals it
            await asyncio.sleep(0)
        queue.large_paths["twice", b"/all"] = None
        queue.free_threads = 2
        queue._wake_waiters()
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert queue.overdue == set()

    run_scenario(scenario)


def test_cancelled_waiter_leaves_no_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "LARGE_REQUESTS", replace(thread_queues.LARGE_REQUESTS, seconds=0))

    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 0
        one = asyncio.ensure_future(queue.acquire(QueueKey("one", b"/all")))
        while not queue.overdue:  # noqa: ASYNC110 - no event signals it
            await asyncio.sleep(0)
        one.cancel()
        await asyncio.wait([one])
        assert queue.overdue == set()

    run_scenario(scenario)


def test_other_queries_of_a_large_path_count_as_large() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queries = [QueueKey("reader", b"/all", b"%d" % number) for number in range(MAX_LARGE_RUNNING + 1)]
        await queue.acquire(queries[0])
        await queue.run(queries[0], lambda: None)
        queue.release(queries[0], was_large=True)
        *begun, late = [asyncio.ensure_future(queue.acquire(key)) for key in queries]
        await asyncio.wait_for(queue.acquire(QueueKey("other", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        late.cancel()

    run_scenario(scenario)


def test_path_that_is_small_again_is_no_longer_large() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        once = QueueKey("a", b"/all")
        for was_large in (True, False):
            await queue.acquire(once)
            await queue.run(once, lambda: None)
            queue.release(once, was_large=was_large)
        assert (queue.large_paths, dict(queue.running)) == ({}, {})

    run_scenario(scenario)


def test_cancelled_waiter_takes_no_thread() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        keys = [QueueKey("a", b"%d" % number) for number in range(4)]
        for key in keys:
            await queue.acquire(key)
        impatient = asyncio.ensure_future(queue.acquire(QueueKey("b", b"/")))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        await queue.run(keys[0], lambda: None)
        queue.release(keys[0])
        assert (queue.free_threads, queue.waiters) == (1, {})

    run_scenario(scenario)


def test_requests_that_follow_each_other_have_one_thread() -> None:
    key, threads = QueueKey("caller", b"/path"), set[int]()

    async def scenario(queue: ThreadQueue) -> None:
        async def ask(together: threading.Barrier | None = None) -> None:
            def work() -> None:
                threads.add(threading.get_ident())
                if together:
                    together.wait(60)

            await queue.acquire(key)
            await queue.run(key, work)
            queue.release(key)

        both = threading.Barrier(2)
        await asyncio.gather(ask(both), ask(both))
        assert len(threads) == 2
        threads.clear()
        for _ in range(50):
            await ask()
        assert len(threads) == 1

    run_scenario(scenario)


def test_a_failed_request_frees_its_thread() -> None:
    key = QueueKey("caller", b"/path")

    async def scenario(queue: ThreadQueue) -> None:
        def fail() -> None:
            raise KeyError("lost")

        for _ in range(2):
            await queue.acquire(key)
            with pytest.raises(KeyError):
                await queue.run(key, fail)
            queue.release(key)
        assert (queue.free_threads, queue.requests_in_threads) == (1, 0)

    run_scenario(scenario, threads=1)
