"""Event streams occupy no request thread, and end when their client disconnects or the server stops."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
import requests
from django.db import OperationalError

from contacts_project.kernel.api.asgi_responses import EventStream, event, in_thread
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import RunningServer, serve_views
from tests.contacts_project.server.test_slow_clients import quick

STREAM_COUNT = 50
closed: list[str] = []


def thread_name() -> str:
    return threading.current_thread().name


async def tick() -> AsyncGenerator[bytes, None]:
    try:
        yield event("progress", {"thread": thread_name()}, event_id=1)
        yield event("progress", {"thread": await in_thread(thread_name)}, event_id=2)
        await asyncio.sleep(1000)
    finally:
        closed.append("tick")


async def count_to_three() -> AsyncGenerator[bytes, None]:
    for number in range(3):
        yield event("count", number)


async def fail_after_one_event() -> AsyncGenerator[bytes, None]:
    yield event("count", 0)
    raise ValueError("no more")


async def lose_database() -> AsyncGenerator[bytes, None]:
    yield event("count", 0)
    raise OperationalError("server closed the connection unexpectedly")


@pytest.fixture
def server() -> Iterator[RunningServer]:
    closed.clear()
    streams = {"/ticks": tick, "/counts": count_to_three, "/fails": fail_after_one_event, "/lost": lose_database}
    views: dict[str, Any] = {path: lambda _, events=events: EventStream(events()) for path, events in streams.items()}
    with serve_views({**views, "/quick": quick}) as served:
        yield served


def open_stream(server: RunningServer) -> tuple[requests.Response, Iterator[str]]:
    """Open the stream of /ticks and read its first two events; returns the response and its further lines."""
    response = requests.get(f"{server.base}/ticks", stream=True, timeout=60)
    lines = response.iter_lines(chunk_size=1, decode_unicode=True)
    first, second = ([next(lines) for _ in range(4)] for _ in range(2))
    assert (first[:2], second[:2]) == (["event: progress", "id: 1"], ["event: progress", "id: 2"])
    threads = [json.loads(event[2].removeprefix("data: "))["thread"] for event in (first, second)]
    assert not threads[0].startswith("request")
    assert threads[1].startswith("stream")
    return response, lines


def test_fifty_streams_leave_both_threads_to_other_requests(server: RunningServer) -> None:
    streams = [open_stream(server) for _ in range(STREAM_COUNT)]
    assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    for response, _ in streams:
        response.close()
    wait_until(lambda: len(closed) == STREAM_COUNT)


def test_stream_ends_after_its_last_event(server: RunningServer) -> None:
    response = requests.get(f"{server.base}/counts", timeout=60)
    assert response.text == "".join(f"event: count\ndata: {number}\n\n" for number in range(3))
    assert response.headers["Content-Type"] == "text/event-stream"
    assert "Content-Length" not in response.headers


def test_failing_stream_is_cut_off(server: RunningServer) -> None:
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        requests.get(f"{server.base}/fails", timeout=60)


def test_stream_that_loses_the_database_sends_an_error_and_ends(server: RunningServer) -> None:
    first, last, end = requests.get(f"{server.base}/lost", timeout=60).text.split("\n\n")
    assert (first, end) == ("event: count\ndata: 0", "")
    name, data = last.split("\n")
    assert name == "event: error"
    told = json.loads(data.removeprefix("data: "))
    assert told["code"] == "unavailable"
    assert "open the stream again" in told["error"]


def test_comments_keep_an_idle_stream_open(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EventStream, "comment_seconds", 0.02)
    response, lines = open_stream(server)
    assert [next(lines) for _ in range(4)] == [":", "", ":", ""]
    response.close()


def test_streams_end_when_the_server_stops(server: RunningServer) -> None:
    _, lines = open_stream(server)
    server.stop()
    assert list(lines) == []
    assert closed == ["tick"]
