"""Requests that wait for other servers leave the threads to the others, and are refused when too many wait."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from contacts_project.kernel.outbound import OutboundError, Policy, Rules
from contacts_project.kernel.outbound.session import OutboundSession
from contacts_project.server import thread_queues
from tests.contacts_project.server.server_thread import read_answer, running
from tests.contacts_project.server.test_slow_clients import quick, wait_until
from tests.loopback import raw_server

ASK = b"POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Silent:
    """A server that takes connections and closes them, without a word, once `speak` is set."""

    port: int = 0
    speak: threading.Event = field(default_factory=threading.Event)
    asked: list[socket.socket] = field(default_factory=list)

    def ask(self, request: WSGIRequest) -> HttpResponse:
        """A view that asks it."""
        with OutboundSession(Rules(policy=Policy.parse("127.0.0.0/8", "*"), seconds=60)) as session:
            try:
                session.request("GET", f"http://127.0.0.1:{self.port}/")
            except OutboundError as error:
                return HttpResponse(error.code)
        raise AssertionError("it spoke")


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent()

    def handle(connection: Any) -> None:
        server.asked.append(connection)
        server.speak.wait(60)

    with raw_server(handle) as server.port:
        yield server
        server.speak.set()


def test_twelve_calls_of_a_silent_server_leave_two_threads_to_the_others(silent: Silent) -> None:
    with running({"/ask": silent.ask, "/quick": quick}, threads=2) as served:
        asking = [served.connect(ASK).makefile("rb") for _ in range(12)]
        wait_until(lambda: len(silent.asked) == 12)
        assert requests.get(f"{served.base}/quick", timeout=60).content == b"quick"
        silent.speak.set()
        assert [read_answer(file)[0] for file in asking] == [200] * 12
        assert requests.get(f"{served.base}/quick", timeout=60).content == b"quick"


def test_one_more_than_may_wait_is_503(silent: Silent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "MAX_EXTERNAL_WAITS", 3)
    with running({"/ask": silent.ask}, threads=2) as served:
        asking = [served.connect(ASK).makefile("rb") for _ in range(3)]
        wait_until(lambda: len(silent.asked) == 3)
        status, headers, body = read_answer(served.connect(ASK).makefile("rb"))
        assert (status, orjson.loads(body)["code"], int(headers["retry-after"]) > 0) == (503, "unavailable", True)
        silent.speak.set()
        assert [read_answer(file)[0] for file in asking] == [200] * 3
