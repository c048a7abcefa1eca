"""Clients that send or read slowly, or never, hold no thread, and are cut off after a while."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, StreamingHttpResponse

from contacts_project.server import bodies, connection, stalled
from contacts_project.server.spool import Spool
from tests.contacts_project.server.server_thread import Running, read_answer, running

BIG = 2 * 1024 * 1024
HALF_A_HEAD = b"GET /quick HTTP/1.1\r\nHost: a\r\n"
HALF_A_BODY = b"POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{"
WITHOUT_READING = b"GET /big HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %d\r\n\r\n"


def quick(request: WSGIRequest) -> HttpResponse:
    return HttpResponse(b"quick")


def big(request: WSGIRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(b"x" * 65536 for _ in range(BIG // 65536))


@pytest.fixture
def server() -> Iterator[Running]:
    with running({"/quick": quick, "/big": big, "/api/people": quick}) as served:
        yield served


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("sent", [HALF_A_HEAD, HALF_A_BODY, WITHOUT_READING])
def test_they_leave_the_threads_to_the_others(server: Running, sent: bytes) -> None:
    for number in range(100):
        server.connect(sent % number if b"%d" in sent else sent, receive_buffer=4096)
    for _ in range(3):
        assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    assert len(server.server.server_state.connections) >= 100


def test_one_caller_who_never_reads_waits_for_himself(server: Running) -> None:
    """Answers for him are not even made, so his connections cost next to nothing."""
    for _ in range(30):
        server.connect(WITHOUT_READING % 1, receive_buffer=4096)
    other = {"Authorization": "Bearer 2"}
    assert len(requests.get(f"{server.base}/big", headers=other, timeout=60).content) == BIG
    assert Spool.total_bytes <= 3 * BIG


@pytest.mark.parametrize("paths", [1, 4])
def test_who_never_reads_hinders_nobody_at_the_same_address(monkeypatch: pytest.MonkeyPatch, paths: int) -> None:
    """Behind one address may be many: what they ask for elsewhere goes on, whatever the queries."""
    monkeypatch.setattr(stalled, "STALLED_SECONDS", 0)
    with running({"/quick": quick} | {f"/{number}": big for number in range(paths)}) as served:
        for number in range(100):
            head = f"GET /{number % paths}?{number} HTTP/1.1\r\nHost: a\r\n\r\n"
            served.connect(head.encode(), receive_buffer=4096)
        wait_until(lambda: len(stalled.stalled_connections) >= min(8 * paths, 24))
        assert requests.get(f"{served.base}/quick", timeout=20).content == b"quick"
        assert requests.delete(f"{served.base}/0", timeout=20).status_code == 200


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD])
def test_a_head_that_does_not_come_is_refused(server: Running, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connection, "HEADER_TIMEOUT_SECONDS", 0.1)
    status, headers, body = read_answer(server.connect(sent).makefile("rb"))
    assert (status, headers["connection"]) == (408, "close")
    assert "too slowly" in orjson.loads(body)["error"]


def test_a_head_in_drops_is_refused_on_a_kept_connection_too(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    file = (kept := server.connect(HALF_A_HEAD + b"\r\n")).makefile("rb")
    assert read_answer(file)[0] == 200
    monkeypatch.setattr(connection, "HEADER_TIMEOUT_SECONDS", 0.1)
    for drop in (b"GET ", b"/qu", b"ick"):
        kept.sendall(drop)
        time.sleep(0.02)
    assert read_answer(file)[0] == 408


def test_a_body_that_stops_or_drips_is_refused(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "IDLE_TIMEOUT_SECONDS", 0.1)
    assert read_answer(server.connect(HALF_A_BODY).makefile("rb"))[0] == 408
    monkeypatch.setattr(bodies, "IDLE_TIMEOUT_SECONDS", 600)  # longer than the test waits for an answer
    monkeypatch.setattr(bodies, "GRACE_SECONDS", 0.05)
    dripping = server.connect(HALF_A_BODY)
    time.sleep(0.1)
    dripping.sendall(b"x")
    assert read_answer(dripping.makefile("rb"))[0] == 408


def test_who_does_not_read_is_cut_off(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SEND_TIMEOUT_SECONDS", 0.2)
    deaf = server.connect(WITHOUT_READING % 1, receive_buffer=4096)
    wait_until(lambda: bool(stalled.stalled_connections))
    wait_until(lambda: not server.server.server_state.connections)
    with pytest.raises(ConnectionResetError):
        deaf.makefile("rb").read()
    wait_until(lambda: Spool.total_bytes == 0)


def test_who_has_not_read_for_longest_makes_room(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spool, "MAX_TOTAL_BYTES", 3 * BIG)
    monkeypatch.setattr(stalled, "STALLED_SECONDS", 0)
    for caller in range(8):
        server.connect(WITHOUT_READING % caller, receive_buffer=4096).recv(1)  # it has come so far
        wait_until(lambda: bool(stalled.stalled_connections))
    answer = requests.get(f"{server.base}/big", timeout=60)
    assert (answer.status_code, len(answer.content)) == (200, BIG)


def test_an_answer_for_which_there_is_no_room_is_503(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spool, "MAX_TOTAL_BYTES", BIG - 1)
    answer = requests.get(f"{server.base}/big", timeout=60)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert requests.get(f"{server.base}/quick", timeout=60).status_code == 200


def test_who_runs_the_service_is_told_why_an_answer_could_not_be_kept(
    server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As in a container without a folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert requests.get(f"{server.base}/big", timeout=60).status_code == 503
    assert str(tmp_path / "absent") in caplog.text


def test_who_waits_too_long_for_a_thread_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contacts_project.server.thread_queues.QUEUE_TIMEOUT_SECONDS", 0.1)
    free = threading.Event()

    def wait(request: WSGIRequest) -> HttpResponse:
        free.wait(60)
        return HttpResponse()

    with running({"/wait": wait}) as served:
        held = [served.connect(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(2)]
        assert requests.get(f"{served.base}/wait", timeout=60).status_code == 503
        free.set()
        assert [read_answer(one.makefile("rb"))[0] for one in held] == [200, 200]


def test_a_request_under_way_is_finished_when_the_server_stops() -> None:
    begun, free = threading.Event(), threading.Event()

    def slow(request: WSGIRequest) -> HttpResponse:
        begun.set()
        free.wait(60)
        return HttpResponse(b"done")

    with running({"/slow": slow}) as served:
        file = served.connect(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").makefile("rb")
        idle = served.connect(HALF_A_HEAD)
        assert begun.wait(60)
        served.stop()
        assert idle.recv(100) == b""
        free.set()
        status, _, body = read_answer(file)
        assert (status, body, file.read()) == (200, b"done", b"")
