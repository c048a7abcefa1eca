"""Streams of events hold no thread, and end when their client or the server does."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
import requests
from django.db import OperationalError

from contacts_project.kernel.api.event_streams import EventStream, event, in_thread
from tests.contacts_project.server.server_thread import Running, running
from tests.contacts_project.server.test_slow_clients import quick, wait_until

STREAMS = 50
closed: list[str] = []


def thread() -> str:
    return threading.current_thread().name


async def ticking() -> AsyncGenerator[bytes, None]:
    try:
        yield event("progress", {"thread": thread()}, event_id=1)
        yield event("progress", {"thread": await in_thread(thread)}, event_id=2)
        await asyncio.sleep(1000)
    finally:
        closed.append("ticking")


async def counting() -> AsyncGenerator[bytes, None]:
    for number in range(3):
        yield event("count", number)


async def failing() -> AsyncGenerator[bytes, None]:
    yield event("count", 0)
    raise ValueError("no more")


async def losing_the_database() -> AsyncGenerator[bytes, None]:
    yield event("count", 0)
    raise OperationalError("server closed the connection unexpectedly")


@pytest.fixture
def server() -> Iterator[Running]:
    closed.clear()
    streams = {"/ticks": ticking, "/counts": counting, "/fails": failing, "/lost": losing_the_database}
    views: dict[str, Any] = {path: lambda _, events=events: EventStream(events()) for path, events in streams.items()}
    with running({**views, "/quick": quick}) as served:
        yield served


def opened(server: Running) -> tuple[requests.Response, Iterator[str]]:
    """A stream of which the events so far were read."""
    answer = requests.get(f"{server.base}/ticks", stream=True, timeout=60)
    lines = answer.iter_lines(chunk_size=1, decode_unicode=True)
    first, second = ([next(lines) for _ in range(4)] for _ in range(2))
    assert (first[:2], second[:2]) == (["event: progress", "id: 1"], ["event: progress", "id: 2"])
    threads = [json.loads(event[2].removeprefix("data: "))["thread"] for event in (first, second)]
    assert not threads[0].startswith("request")
    assert threads[1].startswith("stream")
    return answer, lines


def test_fifty_streams_leave_two_threads_to_the_others(server: Running) -> None:
    streams = [opened(server) for _ in range(STREAMS)]
    assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    for answer, _ in streams:
        answer.close()
    wait_until(lambda: len(closed) == STREAMS)


def test_a_stream_ends_with_its_events(server: Running) -> None:
    answer = requests.get(f"{server.base}/counts", timeout=60)
    assert answer.text == "".join(f"event: count\ndata: {number}\n\n" for number in range(3))
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert "Content-Length" not in answer.headers


def test_a_stream_that_fails_is_cut_off(server: Running) -> None:
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        requests.get(f"{server.base}/fails", timeout=60)


def test_a_stream_without_its_database_says_so_and_ends(server: Running) -> None:
    first, last, end = requests.get(f"{server.base}/lost", timeout=60).text.split("\n\n")
    assert (first, end) == ("event: count\ndata: 0", "")
    name, data = last.split("\n")
    assert name == "event: error"
    told = json.loads(data.removeprefix("data: "))
    assert told["code"] == "unavailable"
    assert "open the stream again" in told["error"]


def test_comments_keep_a_silent_stream_open(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EventStream, "comment_seconds", 0.02)
    answer, lines = opened(server)
    assert [next(lines) for _ in range(4)] == [":", "", ":", ""]
    answer.close()


def test_streams_end_when_the_server_stops(server: Running) -> None:
    _, lines = opened(server)
    server.stop()
    assert list(lines) == []
    assert closed == ["ticking"]
