"""Requests that wait for external servers count as holding no thread, and are refused when too many wait."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from contacts_project.kernel.external_waits import MAX_WAITS_OF_ACCOUNT, account_of_request, external_wait
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.policy import Policy
from contacts_project.kernel.outbound.session import OutboundSession, Rules
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import read_response, serve_views
from tests.contacts_project.server.test_slow_clients import quick
from tests.loopback import raw_server

ASK = b"POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"


@dataclass
class SilentServer:
    """A server that accepts connections and closes them without a response once `release` is set."""

    port: int = 0
    release: threading.Event = field(default_factory=threading.Event)
    connections: list[socket.socket] = field(default_factory=list)

    def call_from_view(self, request: WSGIRequest) -> HttpResponse:
        """A view that calls this server."""
        with OutboundSession(Rules(policy=Policy.parse("127.0.0.0/8", "*"), seconds=60)) as session:
            try:
                session.request("GET", f"http://127.0.0.1:{self.port}/")
            except OutboundError as error:
                return HttpResponse(error.code)
        raise AssertionError("the server responded")


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    server = SilentServer()

    def handle(connection: Any) -> None:
        server.connections.append(connection)
        server.release.wait(60)

    with raw_server(handle) as server.port:
        yield server
        server.release.set()


def test_twelve_waiting_calls_leave_both_threads_to_other_requests(silent: SilentServer) -> None:
    with serve_views({"/ask": silent.call_from_view, "/quick": quick}, threads=2) as served:
        asking = [served.connect(ASK).makefile("rb") for _ in range(12)]
        wait_until(lambda: len(silent.connections) == 12)
        assert requests.get(f"{served.base}/quick", timeout=60).content == b"quick"
        silent.release.set()
        assert [read_response(file)[0] for file in asking] == [200] * 12
        assert requests.get(f"{served.base}/quick", timeout=60).content == b"quick"


def test_call_beyond_the_limit_of_waiting_calls_is_503(silent: SilentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_views({"/ask": silent.call_from_view}, threads=2) as served:
        waits = served.application.requests.external_waits
        monkeypatch.setattr(waits, "limits", replace(waits.limits, total=3))
        asking = [served.connect(ASK).makefile("rb") for _ in range(3)]
        wait_until(lambda: len(silent.connections) == 3)
        status, headers, body = read_response(served.connect(ASK).makefile("rb"))
        assert (status, orjson.loads(body)["code"], int(headers["retry-after"]) > 0) == (503, "unavailable", True)
        silent.release.set()
        assert [read_response(file)[0] for file in asking] == [200] * 3


def test_account_has_a_few_of_the_places_for_waiting_requests(silent: SilentServer) -> None:
    """Whatever credentials it uses. Requests to servers of the operator, such as the store of photos, do not count."""

    def ask_as(account: str) -> Callable[[WSGIRequest], HttpResponse]:
        def ask(request: WSGIRequest) -> HttpResponse:
            account_of_request.set(account)
            return silent.call_from_view(request)

        return ask

    def ask_own_server(request: WSGIRequest) -> HttpResponse:
        account_of_request.set("one")
        with external_wait(is_own_server=True):
            return HttpResponse("own")

    views = {"/one": ask_as("one"), "/another": ask_as("one"), "/two": ask_as("two"), "/own": ask_own_server}
    with serve_views(views, threads=2) as served:
        paths = [b"/one"] * MAX_WAITS_OF_ACCOUNT + [b"/two"]
        asking = [served.connect(ASK.replace(b"/ask", path)).makefile("rb") for path in paths]
        wait_until(lambda: len(silent.connections) == MAX_WAITS_OF_ACCOUNT + 1)
        status, headers, body = read_response(served.connect(ASK.replace(b"/ask", b"/another")).makefile("rb"))
        assert (status, orjson.loads(body)["code"], int(headers["retry-after"]) > 0) == (503, "unavailable", True)
        assert requests.get(f"{served.base}/own", timeout=60).content == b"own"
        silent.release.set()
        assert [read_response(file)[0] for file in asking] == [200] * (MAX_WAITS_OF_ACCOUNT + 1)


def test_further_requests_of_a_caller_to_the_same_path_wait_instead_of_being_refused(silent: SilentServer) -> None:
    def ask(request: WSGIRequest) -> HttpResponse:
        account_of_request.set("one")
        return silent.call_from_view(request)

    number = 2 * MAX_WAITS_OF_ACCOUNT + 2
    with serve_views({"/ask": ask, "/quick": quick}, threads=2) as served:
        asking = [served.connect(ASK).makefile("rb") for _ in range(number)]
        wait_until(lambda: len(silent.connections) == MAX_WAITS_OF_ACCOUNT)
        assert requests.get(f"{served.base}/quick", timeout=60).content == b"quick"
        assert len(silent.connections) == MAX_WAITS_OF_ACCOUNT
        silent.release.set()
        assert [read_response(file)[0] for file in asking] == [200] * number
