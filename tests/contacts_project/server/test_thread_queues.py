"""Who gets a thread next."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from contacts_project.server import thread_queues
from contacts_project.server.thread_queues import MAX_LARGE_RUNNING, MAX_PER_CALLER, MAX_PER_PATH, QueueKey, ThreadQueue


def play(scenario: Callable[[ThreadQueue], Awaitable[None]], threads: int = 4) -> None:
    queue = ThreadQueue("test", threads)
    asyncio.run(scenario(queue))  # type: ignore[arg-type]  # an async function's awaitable is a coroutine
    queue.pool.shutdown()


async def order_of(queue: ThreadQueue, keys: list[QueueKey]) -> list[QueueKey]:
    """In which order they get in, each leaving at once, when all ask at the same moment."""
    came: list[QueueKey] = []

    async def one(key: QueueKey) -> None:
        await queue.acquire(key)
        await queue.run(key, lambda: None)
        came.append(key)
        queue.release(key)

    await asyncio.gather(*map(one, keys))
    return came


def test_callers_take_turns_and_so_do_the_things_one_asks_for() -> None:
    greedy, other, aside = QueueKey("greedy", b"/all"), QueueKey("other", b"/one"), QueueKey("greedy", b"/one")

    async def scenario(queue: ThreadQueue) -> None:
        came = await order_of(queue, [greedy] * 20 + [other, aside])
        assert came.index(other) <= 4
        assert came.index(aside) <= 6

    play(scenario)


def test_nobody_gets_all_the_threads_for_one_thing() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        await asyncio.gather(*(queue.acquire(QueueKey("greedy", b"/all")) for _ in range(2)))
        third = asyncio.ensure_future(queue.acquire(QueueKey("greedy", b"/all")))
        await asyncio.wait_for(queue.acquire(QueueKey("greedy", b"/one")), 60)
        assert not third.done()
        queue.release(QueueKey("greedy", b"/all"))
        await asyncio.wait_for(third, 60)

    play(scenario)


def test_nobody_has_more_under_way_than_is_fair() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 100
        for number in range(MAX_PER_CALLER):
            await queue.acquire(QueueKey("greedy", b"%d" % number))
        late = asyncio.ensure_future(queue.acquire(QueueKey("greedy", b"late")))
        await asyncio.wait_for(
            queue.acquire(QueueKey("other", b"late")), 60
        )  # in a task of its own: `late` runs before it
        assert not late.done()
        late.cancel()

    play(scenario)


def test_one_path_leaves_a_caller_room_for_others() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 100
        queries = (QueueKey("many", b"/all", b"%d" % number) for number in range(MAX_PER_PATH + 1))
        *begun, late = [asyncio.ensure_future(queue.acquire(key)) for key in queries]
        await asyncio.wait_for(queue.acquire(QueueKey("many", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        late.cancel()

    play(scenario)


def test_what_was_large_leaves_room_for_what_is_small() -> None:
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
        await queue.run(large[0], lambda: None)  # its reader may take as long as he likes
        await asyncio.wait_for(late, 60)

    play(scenario)


def test_a_large_request_is_let_in_when_the_others_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "LARGE_WAIT_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        large = [QueueKey(f"reader {number}", b"/all") for number in range(MAX_LARGE_RUNNING + 1)]
        queue.large_paths = dict.fromkeys((key.caller, key.path) for key in large)
        await asyncio.wait_for(asyncio.gather(*map(queue.acquire, large)), 60)
        assert queue.overdue == set()

    play(scenario)


def test_each_waiter_has_a_patience_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that ask the same, and became large only while they waited."""
    monkeypatch.setattr(thread_queues, "LARGE_WAIT_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 0
        queue.running[QueueKey("reader", b"/all")] = MAX_LARGE_RUNNING
        queue.large_paths["reader", b"/all"] = None
        twice = QueueKey("twice", b"/all")
        waiting = [asyncio.ensure_future(queue.acquire(twice)) for _ in range(2)]
        while len(queue.overdue) < 2:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        queue.large_paths["twice", b"/all"] = None
        queue.free_threads = 2
        queue._wake_waiters()
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert queue.overdue == set()

    play(scenario)


def test_who_gives_up_leaves_no_patience_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "LARGE_WAIT_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        queue.free_threads = 0
        one = asyncio.ensure_future(queue.acquire(QueueKey("one", b"/all")))
        while not queue.overdue:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        one.cancel()
        await asyncio.wait([one])
        assert queue.overdue == set()

    play(scenario)


def test_another_query_is_as_large() -> None:
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

    play(scenario)


def test_what_is_small_again_waits_for_none() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        once = QueueKey("a", b"/all")
        for was_large in (True, False):
            await queue.acquire(once)
            await queue.run(once, lambda: None)
            queue.release(once, was_large=was_large)
        assert (queue.large_paths, dict(queue.running)) == ({}, {})

    play(scenario)


def test_who_gives_up_waiting_takes_no_thread() -> None:
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

    play(scenario)
