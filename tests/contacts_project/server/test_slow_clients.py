"""Clients that send or read slowly, or never, occupy no thread and are disconnected after a timeout."""

import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, StreamingHttpResponse

from contacts_project.server import bodies, connection, thread_queues
from contacts_project.server.bodies import WINDOW_BYTES, Holder, Spool
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import RunningServer, read_response, serve_views

BIG_BYTES = 2 * 1024 * 1024
PARTIAL_HEAD = b"GET /quick HTTP/1.1\r\nHost: a\r\n"
PARTIAL_BODY = (
    b"POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nAuthorization: Bearer cnt_%046d\r\n\r\n{"
)
REQUEST_OF_BIG = b"GET /big HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer cnt_%046d\r\n\r\n"


def quick(request: WSGIRequest) -> HttpResponse:
    return HttpResponse(b"quick")


def big(request: WSGIRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(b"x" * 65536 for _ in range(BIG_BYTES // 65536))


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serve_views({"/quick": quick, "/big": big, "/api/people": quick}) as served:
        yield served


@pytest.mark.parametrize("sent", [PARTIAL_HEAD, PARTIAL_BODY, REQUEST_OF_BIG])
def test_slow_clients_hold_no_threads(server: RunningServer, sent: bytes) -> None:
    for number in range(100):
        server.connect(sent % number if b"%d" in sent else sent, receive_buffer=4096)
    for _ in range(3):
        assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    assert len(server.server.server_state.connections) >= 100


def test_caller_who_never_reads_delays_only_its_own_requests(server: RunningServer) -> None:
    """No responses are generated for it meanwhile, so its connections cost almost nothing."""
    for _ in range(30):
        server.connect(REQUEST_OF_BIG % 1, receive_buffer=4096)
    other = {"Authorization": f"Bearer cnt_{2:046}"}
    assert len(requests.get(f"{server.base}/big", headers=other, timeout=60).content) == BIG_BYTES
    assert Spool.total_bytes <= 3 * BIG_BYTES


@pytest.mark.parametrize("paths", [1, 4])
def test_clients_that_never_read_do_not_delay_others_at_the_same_address(
    monkeypatch: pytest.MonkeyPatch, paths: int
) -> None:
    """Many clients may share one address: their requests for other paths are served, whatever the query strings are."""
    monkeypatch.setattr(connection, "STALLED_SECONDS", 0)
    with serve_views({"/quick": quick} | {f"/{number}": big for number in range(paths)}) as served:
        for number in range(100):
            head = f"GET /{number % paths}?{number} HTTP/1.1\r\nHost: a\r\n\r\n"
            served.connect(head.encode(), receive_buffer=4096)
        wait_until(lambda: len(connection.stalled_connections) >= min(8 * paths, 24))
        assert requests.get(f"{served.base}/quick", timeout=20).content == b"quick"
        assert requests.delete(f"{served.base}/0", timeout=20).status_code == 200


@pytest.mark.parametrize("sent", [b"", PARTIAL_HEAD])
def test_missing_head_is_408(server: RunningServer, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connection, "HEADER_TIMEOUT_SECONDS", 0.1)
    status, headers, body = read_response(server.connect(sent).makefile("rb"))
    assert (status, headers["connection"]) == (408, "close")
    assert "too slowly" in orjson.loads(body)["error"]


def test_slow_head_on_a_kept_connection_is_408(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    file = (kept := server.connect(PARTIAL_HEAD + b"\r\n")).makefile("rb")
    assert read_response(file)[0] == 200
    monkeypatch.setattr(connection, "HEADER_TIMEOUT_SECONDS", 0.1)
    for drop in (b"GET ", b"/qu", b"ick"):
        kept.sendall(drop)
        time.sleep(0.02)
    assert read_response(file)[0] == 408


def test_stalled_or_slow_body_is_408(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "IDLE_TIMEOUT_SECONDS", 0.1)
    assert read_response(server.connect(PARTIAL_BODY % 1).makefile("rb"))[0] == 408
    monkeypatch.setattr(bodies, "IDLE_TIMEOUT_SECONDS", 600)  # longer than the test waits for a response
    monkeypatch.setattr(bodies, "GRACE_SECONDS", 0.05)
    dripping = server.connect(PARTIAL_BODY % 1)
    time.sleep(0.1)
    dripping.sendall(b"x")
    assert read_response(dripping.makefile("rb"))[0] == 408


def test_client_that_does_not_read_is_disconnected(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SEND_TIMEOUT_SECONDS", 0.2)
    not_reading = server.connect(REQUEST_OF_BIG % 1, receive_buffer=4096)
    wait_until(lambda: bool(connection.stalled_connections))
    wait_until(lambda: not server.server.server_state.connections)
    with pytest.raises(ConnectionResetError):
        not_reading.makefile("rb").read()
    wait_until(lambda: Spool.total_bytes == 0)


def test_longest_stalled_connection_is_closed_to_make_room(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.application.windows, "total", 4 * WINDOW_BYTES)
    monkeypatch.setattr(connection, "STALLED_SECONDS", 0)
    for caller in range(8):
        server.connect(REQUEST_OF_BIG % caller, receive_buffer=4096).recv(1)  # the response has begun
        wait_until(lambda: bool(connection.stalled_connections))
    response = requests.get(f"{server.base}/big", timeout=60)
    assert (response.status_code, len(response.content)) == (200, BIG_BYTES)


def test_long_response_that_has_no_space_is_sent_as_it_is_read(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.application.responses, "total", 0)
    for _ in range(3):
        assert len(requests.get(f"{server.base}/big", timeout=60).content) == BIG_BYTES
    assert Spool.total_bytes == 0


def test_response_whose_beginning_has_no_space_is_503(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.application.windows, "total", WINDOW_BYTES // 8)
    response = requests.get(f"{server.base}/big", timeout=60)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert int(response.headers["Retry-After"]) > 0
    assert requests.get(f"{server.base}/quick", timeout=60).status_code == 200


def test_reason_why_a_response_cannot_be_spooled_is_logged(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """For example in a container without a folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    request = REQUEST_OF_BIG.replace(b"Host: a", b"Host: a\r\nConnection: close")
    reader = server.connect(request % 1, receive_buffer=4096)
    wait_until(lambda: str(tmp_path / "absent") in caplog.text)
    # It waits for its reader, and loses nothing.
    assert reader.makefile("rb").read().count(b"x" * 1024) == BIG_BYTES // 1024


def test_waiting_too_long_for_a_thread_is_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_queues, "REQUESTS", replace(thread_queues.REQUESTS, seconds=0.1))
    free = threading.Event()

    def wait(request: WSGIRequest) -> HttpResponse:
        free.wait(60)
        return HttpResponse()

    with serve_views({"/wait": wait}) as served:
        held = [served.connect(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(2)]
        assert requests.get(f"{served.base}/wait", timeout=60).status_code == 503
        free.set()
        assert [read_response(one.makefile("rb"))[0] for one in held] == [200, 200]


def test_stopping_server_finishes_running_requests() -> None:
    begun, free = threading.Event(), threading.Event()

    def slow(request: WSGIRequest) -> HttpResponse:
        begun.set()
        free.wait(60)
        return HttpResponse(b"done")

    with serve_views({"/slow": slow}) as served:
        file = served.connect(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").makefile("rb")
        idle = served.connect(PARTIAL_HEAD)
        assert begun.wait(60)
        served.stop()
        assert idle.recv(100) == b""
        free.set()
        status, _, body = read_response(file)
        assert (status, body, file.read()) == (200, b"done", b"")


def test_health_has_space_of_its_own_beside_stalled_files_of_the_client() -> None:
    """Strangers who never read a large file fill the space of the client's files, and then that of others."""
    with serve_views(dict.fromkeys(("/api/health", "/static/a.js", "/api/people"), quick)) as server:
        for space in (server.application.windows, server.application.page_windows):
            assert space.try_acquire(Holder("crowd", "203.0.113.1"), space.total)
        for path, status in (("/api/health", 200), ("/static/a.js", 503), ("/api/people", 503)):
            assert requests.get(f"{server.base}{path}", timeout=60).status_code == status
