"""Who gets a thread next."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from contacts_project.server import thread_queues
from contacts_project.server.thread_queues import MOST_LARGE, MOST_OF_CALLER, MOST_OF_PATH, Kind, ThreadQueue


def play(scenario: Callable[[ThreadQueue], Awaitable[None]], threads: int = 4) -> None:
    queue = ThreadQueue("test", threads)
    asyncio.run(scenario(queue))  # type: ignore[arg-type]  # an async function's awaitable is a coroutine
    queue.pool.shutdown()


async def order_of(queue: ThreadQueue, kinds: list[Kind]) -> list[Kind]:
    """In which order they get in, each leaving at once, when all ask at the same moment."""
    came: list[Kind] = []

    async def one(kind: Kind) -> None:
        await queue.enter(kind)
        await queue.call(kind, lambda: None)
        came.append(kind)
        queue.leave(kind)

    await asyncio.gather(*map(one, kinds))
    return came


def test_callers_take_turns_and_so_do_the_things_one_asks_for() -> None:
    greedy, other, aside = Kind("greedy", b"/all"), Kind("other", b"/one"), Kind("greedy", b"/one")

    async def scenario(queue: ThreadQueue) -> None:
        came = await order_of(queue, [greedy] * 20 + [other, aside])
        assert came.index(other) <= 4
        assert came.index(aside) <= 6

    play(scenario)


def test_nobody_gets_all_the_threads_for_one_thing() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        await asyncio.gather(*(queue.enter(Kind("greedy", b"/all")) for _ in range(2)))
        third = asyncio.ensure_future(queue.enter(Kind("greedy", b"/all")))
        await asyncio.wait_for(queue.enter(Kind("greedy", b"/one")), 60)
        assert not third.done()
        queue.leave(Kind("greedy", b"/all"))
        await asyncio.wait_for(third, 60)

    play(scenario)


def test_nobody_has_more_under_way_than_is_fair() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free = 100
        for number in range(MOST_OF_CALLER):
            await queue.enter(Kind("greedy", b"%d" % number))
        late = asyncio.ensure_future(queue.enter(Kind("greedy", b"late")))
        await asyncio.wait_for(queue.enter(Kind("other", b"late")), 60)  # in a task of its own: `late` runs before it
        assert not late.done()
        late.cancel()

    play(scenario)


def test_one_path_leaves_a_caller_room_for_others() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queue.free = 100
        queries = (Kind("many", b"/all", b"%d" % number) for number in range(MOST_OF_PATH + 1))
        *begun, late = [asyncio.ensure_future(queue.enter(kind)) for kind in queries]
        await asyncio.wait_for(queue.enter(Kind("many", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        late.cancel()

    play(scenario)


def test_what_was_large_leaves_room_for_what_is_small() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        large = [Kind(f"reader {number}", b"/all") for number in range(MOST_LARGE + 1)]
        for kind in large:
            await queue.enter(kind)
            await queue.call(kind, lambda: None)
            queue.leave(kind, was_large=True)
        *begun, late = [asyncio.ensure_future(queue.enter(kind)) for kind in large]
        await asyncio.wait_for(queue.enter(Kind("other", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        await queue.call(large[0], lambda: None)  # its reader may take as long as he likes
        await asyncio.wait_for(late, 60)

    play(scenario)


def test_a_large_request_is_let_in_when_the_others_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "PATIENCE_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        large = [Kind(f"reader {number}", b"/all") for number in range(MOST_LARGE + 1)]
        queue.large = dict.fromkeys((kind.caller, kind.path) for kind in large)
        await asyncio.wait_for(asyncio.gather(*map(queue.enter, large)), 60)
        assert queue.impatient == set()

    play(scenario)


def test_each_waiter_has_a_patience_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that ask the same, and became large only while they waited."""
    monkeypatch.setattr(thread_queues, "PATIENCE_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        queue.free = 0
        queue.running[Kind("reader", b"/all")] = MOST_LARGE
        queue.large["reader", b"/all"] = None
        twice = Kind("twice", b"/all")
        waiting = [asyncio.ensure_future(queue.enter(twice)) for _ in range(2)]
        while len(queue.impatient) < 2:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        queue.large["twice", b"/all"] = None
        queue.free = 2
        queue._grant()
        await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert queue.impatient == set()

    play(scenario)


def test_who_gives_up_leaves_no_patience_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "PATIENCE_SECONDS", 0)

    async def scenario(queue: ThreadQueue) -> None:
        queue.free = 0
        one = asyncio.ensure_future(queue.enter(Kind("one", b"/all")))
        while not queue.impatient:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        one.cancel()
        await asyncio.wait([one])
        assert queue.impatient == set()

    play(scenario)


def test_another_query_is_as_large() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        queries = [Kind("reader", b"/all", b"%d" % number) for number in range(MOST_LARGE + 1)]
        await queue.enter(queries[0])
        await queue.call(queries[0], lambda: None)
        queue.leave(queries[0], was_large=True)
        *begun, late = [asyncio.ensure_future(queue.enter(kind)) for kind in queries]
        await asyncio.wait_for(queue.enter(Kind("other", b"/one")), 60)
        assert all(one.done() for one in begun)
        assert not late.done()
        late.cancel()

    play(scenario)


def test_what_is_small_again_waits_for_none() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        once = Kind("a", b"/all")
        for was_large in (True, False):
            await queue.enter(once)
            await queue.call(once, lambda: None)
            queue.leave(once, was_large=was_large)
        assert (queue.large, dict(queue.running)) == ({}, {})

    play(scenario)


def test_who_gives_up_waiting_takes_no_thread() -> None:
    async def scenario(queue: ThreadQueue) -> None:
        kinds = [Kind("a", b"%d" % number) for number in range(4)]
        for kind in kinds:
            await queue.enter(kind)
        impatient = asyncio.ensure_future(queue.enter(Kind("b", b"/")))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        await queue.call(kinds[0], lambda: None)
        queue.leave(kinds[0])
        assert (queue.free, queue.waiting) == (1, {})

    play(scenario)
