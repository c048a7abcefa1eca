"""What a connection writes at once, and how it notices that its client is gone."""

import asyncio
import threading
import time
from typing import Any, cast

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from uvicorn.protocols.http import h11_impl

from contacts_project.server.connection import JoiningTransport
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import serve_views

LARGE = b"x" * 64 * 1024


class Recorder:
    """A transport that records what it is told to do."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("close")

    def is_closing(self) -> bool:
        return "close" in self.done


def record(*pieces: bytes | str) -> list[bytes | str]:
    """What the transport below gets of these pieces: written (or `close`) one after the other, or after a `pause`."""
    recorder = Recorder()

    async def write() -> None:
        transport: Any = JoiningTransport(cast("Any", recorder), asyncio.get_running_loop())
        for piece in pieces:
            if piece == "pause":
                await asyncio.sleep(0.01)
            elif piece == "close":
                transport.close()
            else:
                transport.write(piece)
        assert transport.is_closing() is ("close" in pieces)
        await asyncio.sleep(0.01)

    asyncio.run(write())
    return recorder.done


def test_headers_are_sent_with_the_body() -> None:
    assert record(b"head", b"body", b"") == [b"headbody"]
    assert record(b"head", LARGE, LARGE, b"end") == [b"head" + LARGE, LARGE, b"end"]


def test_a_piece_that_nothing_follows_is_sent_alone() -> None:
    assert record(b"head", "pause", b"event", "pause", b"event") == [b"head", b"event", b"event"]
    assert record(b"head", "close") == [b"head", "close"]


def test_a_client_that_leaves_after_a_large_body_is_noticed_while_its_request_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Reading pauses after so many bytes that nobody has taken: also after the last ones.
    monkeypatch.setattr(h11_impl, "HIGH_WATER_LIMIT", 10)
    begun, go_on = threading.Event(), threading.Event()

    def wait(request: WSGIRequest) -> HttpResponse:
        begun.set()
        go_on.wait(60)
        return HttpResponse()

    with serve_views({"/app": wait}) as served:
        client = served.connect(b"POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
        time.sleep(0.2)  # the server waits for the body when it comes
        client.sendall(100 * b"x")
        assert begun.wait(60)
        client.close()
        wait_until(lambda: not served.server.server_state.connections, seconds=30)  # of the 60 that the request runs
        go_on.set()
