"""Streamed responses of outbound sessions: long bodies, and many requests over one connection."""

import gzip
import socket
import time

import pytest

from contacts_project.kernel.outbound import sockets
from contacts_project.kernel.outbound.failures import Code, OutboundError
from tests.contacts_project.outbound_sessions import open_session
from tests.loopback import Reply, closed_port, drip, hang, raw_server, recording_server

LIMIT = 1024 * 1024


def hang_up(connection: socket.socket) -> None:
    connection.recv(1)


def test_path_is_sent_unchanged() -> None:
    with (
        recording_server() as server,
        open_session() as session,
        session.open("REPORT", server.url + "/a%7eb/%40@c;d", data=b"<q/>", headers={"Depth": "0"}) as response,
    ):
        assert (response.status, response.read(LIMIT)) == (200, b"")
    (request,) = server.received
    assert (request.method, request.body, request.headers["depth"]) == ("REPORT", b"<q/>", "0")
    assert request.path in {"/a%7eb/%40@c;d", "/a%7Eb/%40@c;d"}  # urllib3 writes hexadecimal digits large


def test_connection_is_reused_after_the_body_was_read() -> None:
    opened = []

    def handle(connection: socket.socket) -> None:
        opened.append(connection)
        for _ in range(3):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with raw_server(handle) as port, open_session() as session:
        for _ in range(3):
            with session.open("GET", f"http://127.0.0.1:{port}/") as response:
                assert response.read(LIMIT) == b"ok"
    assert len(opened) == 1


def test_compressed_response_may_be_closed_half_way() -> None:
    body = gzip.compress(b"x" * LIMIT)
    with recording_server() as server, open_session() as session:
        server.reply = Reply(200, {"Content-Encoding": "gzip"}, body)
        with session.open("GET", server.url) as response:
            assert next(response.chunks(LIMIT))


def test_connection_is_reused_after_an_unread_short_response() -> None:
    opened = []

    def handle(connection: socket.socket) -> None:
        opened.append(connection)
        for body in (b"", b"no", b"x" * 100_000):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    with raw_server(handle) as port, open_session() as session:
        for expected in (1, 1, 1, 2):  # a long response is not read to its end, so its connection is closed
            session.open("PUT", f"http://127.0.0.1:{port}/").close()
            assert len(opened) == expected


def test_limit_applies_to_the_decompressed_body() -> None:
    with recording_server() as server, open_session() as session:
        server.reply = Reply(200, {"Content-Encoding": "gzip"}, gzip.compress(b"a" * LIMIT))
        with session.open("GET", server.url) as response:
            assert sum(map(len, response.chunks(LIMIT))) == LIMIT
        with session.open("GET", server.url) as response, pytest.raises(OutboundError) as caught:
            response.read(LIMIT - 1)
    assert caught.value.code is Code.UNEXPECTED_RESPONSE


def test_stalled_body_times_out_before_the_deadline() -> None:
    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
        hang(connection)

    with (
        raw_server(handle) as port,
        open_session(idle_seconds=0.3) as session,
        session.open("GET", f"http://127.0.0.1:{port}/") as response,
        pytest.raises(OutboundError) as caught,
    ):
        response.read(LIMIT)
    assert (caught.value.code, caught.value.has_sent) == (Code.TIMEOUT, True)


def test_slow_body_may_take_longer_than_the_idle_timeout() -> None:
    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        for _ in range(4):
            time.sleep(0.6)
            connection.sendall(b"x")

    with (
        raw_server(handle) as port,
        open_session(idle_seconds=2) as session,
        session.open("GET", f"http://127.0.0.1:{port}/") as response,
    ):
        assert response.read(LIMIT) == b"xxxx"


def test_error_tells_whether_the_request_may_have_been_sent() -> None:
    with open_session() as session, pytest.raises(OutboundError) as caught:
        session.open("PUT", f"http://127.0.0.1:{closed_port()}/", data=b"x")
    assert (caught.value.code, caught.value.has_sent) == (Code.REFUSED, False)
    with raw_server(hang_up) as port, open_session() as session, pytest.raises(OutboundError) as caught:
        session.open("PUT", f"http://127.0.0.1:{port}/", data=b"x")
    assert caught.value.has_sent is True


def test_other_requests_are_possible_while_a_body_is_read() -> None:
    with recording_server() as server, open_session() as session:
        server.reply = Reply(200, {}, b"a" * 300_000)
        with session.open("GET", server.url) as long:
            pieces = long.chunks(LIMIT)
            size = len(next(pieces))
            with session.open("GET", server.url) as other:
                assert len(other.read(LIMIT)) == 300_000
            assert size + sum(map(len, pieces)) == 300_000


@pytest.mark.parametrize("prefix", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["header", "body"])
def test_stream_below_the_minimum_speed_is_cut_off(prefix: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and all of them within the deadline: only the speed is too low."""
    monkeypatch.setattr(sockets, "PACE_SECONDS", 0.3)

    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(prefix)
        drip(connection)

    with (
        raw_server(handle) as port,
        open_session(seconds=60, idle_seconds=60) as session,
        pytest.raises(OutboundError) as caught,
        session.open("GET", f"http://127.0.0.1:{port}/") as response,
    ):
        response.read(LIMIT)
    assert caught.value.code is Code.TIMEOUT


def test_stream_at_the_minimum_speed_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes at the same speed, and a lower limit: as many as a server sends in each of the periods."""
    monkeypatch.setattr(sockets, "PACE_SECONDS", 0.3)
    monkeypatch.setattr(sockets, "MIN_BYTES", 1)

    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
        for _ in range(20):
            time.sleep(0.05)
            connection.sendall(b"x")

    with (
        raw_server(handle) as port,
        open_session(seconds=60, idle_seconds=60) as session,
        session.open("GET", f"http://127.0.0.1:{port}/") as response,
    ):
        assert response.read(LIMIT) == b"x" * 20


def test_server_may_work_for_longer_before_its_first_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some prepare a full listing for minutes. The speed counts from the first byte on."""
    monkeypatch.setattr(sockets, "PACE_SECONDS", 0.1)

    def handle(connection: socket.socket) -> None:
        connection.recv(65536)
        time.sleep(0.4)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with (
        raw_server(handle) as port,
        open_session(seconds=60, idle_seconds=60) as session,
        session.open("GET", f"http://127.0.0.1:{port}/") as response,
    ):
        assert response.read(LIMIT) == b"ok"
