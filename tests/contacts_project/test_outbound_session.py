"""Outbound sessions against well-behaved and misbehaving servers, all on loopback."""

import ipaddress
import socket
import threading
from typing import Any

import pytest
import requests

from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status
from contacts_project.kernel.outbound.policy import Policy, Reason, Schemes
from contacts_project.kernel.outbound.session import Rules, guard
from tests.contacts_project.outbound_sessions import LOOPBACK, open_session
from tests.loopback import Reply, closed_port, drip, hang, raw_server, recording_server


def resolver(*answers: Any) -> Any:
    """A resolver that returns each of the answers once, then always the last one."""
    waiting = list(answers)

    def resolve(host: Any, port: int) -> Any:
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(answer, Exception):
            raise answer
        return [ipaddress.ip_address(text) for text in answer]

    return resolve


def failure(url: str, method: Any = "GET", **changes: Any) -> Any:
    with open_session(**changes) as session, pytest.raises(OutboundError) as caught:
        check_status(session.request(method, url))
    return caught.value


@pytest.fixture
def server() -> Any:
    with recording_server() as recorder:
        yield recorder


def test_any_method_reaches_an_allowed_server(server: Any) -> None:
    server.reply = Reply(207, {"Content-Type": "text/xml"}, b"<ok/>")
    with open_session() as session:
        response = session.request("PROPFIND", server.url + "/a%20b?c=d", data=b"<q/>", headers={"Depth": "1"})
    assert (response.status_code, response.content) == (207, b"<ok/>")
    (request,) = server.received
    assert (request.method, request.path, request.body) == ("PROPFIND", "/a%20b?c=d", b"<q/>")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["depth"] == "1"


def test_loopback_is_blocked_without_the_setting(server: Any) -> None:
    error = failure(server.url, policy=Policy.parse(ports="*"))
    assert (error.code, error.reason) == (Code.BLOCKED, Reason.ADDRESS)
    assert server.received == []


def test_address_that_changes_after_the_check_is_checked_again(server: Any) -> None:
    changing = resolver(["127.0.0.1"], ["10.0.0.1"])
    with open_session(resolve=changing) as session:
        session.check(f"http://turncoat.example:{server.port}/")
        with pytest.raises(OutboundError) as caught:
            session.get(f"http://turncoat.example:{server.port}/")
    assert caught.value.code is Code.BLOCKED
    assert server.received == []


def test_connection_uses_the_address_that_was_checked(server: Any) -> None:
    """A second DNS query between check and connect would get the hostile answer (DNS rebinding)."""
    with open_session(resolve=resolver(["127.0.0.1"], ["10.0.0.1"])) as session:
        response = session.get(f"http://turncoat.example:{server.port}/")
    assert response.status_code == 200
    assert server.received[0].headers["host"] == f"turncoat.example:{server.port}"


def test_host_with_one_internal_address_is_blocked(server: Any) -> None:
    error = failure(f"http://mixed.example:{server.port}/", resolve=resolver(["127.0.0.1", "10.0.0.1"]))
    assert error.code is Code.BLOCKED
    assert server.received == []


def test_next_address_is_tried_when_one_refuses(server: Any) -> None:
    with open_session(resolve=resolver(["127.0.0.9", "127.0.0.1"])) as session:
        assert session.get(f"http://two.example:{server.port}/").status_code == 200


def test_https_only_blocks_plain_http_outside_the_allowed_networks() -> None:
    error = failure("http://public.example/", schemes=Schemes.HTTPS_ONLY, resolve=resolver(["93.184.215.14"]))
    assert (error.code, error.reason) == (Code.BLOCKED, Reason.SCHEME)
    # Plain http is allowed only for internal addresses, so a name that does not resolve is refused for its scheme.
    error = failure("http://gone.example/", schemes=Schemes.HTTPS_ONLY, resolve=resolver([]))
    assert (error.code, error.reason) == (Code.BLOCKED, Reason.SCHEME)


@pytest.mark.parametrize("answer", [socket.gaierror(-2, "Name or service not known"), [], UnicodeError("x")])
def test_name_that_does_not_resolve_is_a_dns_error(answer: Any) -> None:
    assert failure("http://gone.example/", resolve=resolver(answer)).code is Code.DNS


def test_hanging_resolver_times_out_at_the_deadline() -> None:
    release = threading.Event()

    def resolve_slowly(host: Any, port: int) -> Any:
        release.wait(30)
        return []

    try:
        assert failure("http://slow.example/", resolve=resolve_slowly, seconds=0.3).code is Code.TIMEOUT
    finally:
        release.set()


def test_closed_port_is_a_refused_connection() -> None:
    assert failure(f"http://127.0.0.1:{closed_port()}/").code is Code.REFUSED


def dripping(prefix: bytes, byte: bytes = b"x") -> Any:
    def handle(connection: Any) -> None:
        connection.sendall(prefix)
        drip(connection, byte)

    return handle


@pytest.mark.parametrize(
    "handle",
    [
        dripping(b""),
        dripping(b"HTTP/1.1 200 OK\r\nX-Long: "),
        dripping(b"HTTP/1.1 200 OK\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        hang,
    ],
    ids=["status line", "header", "body", "counted body", "chunks", "1xx", "silence"],
)
@pytest.mark.parametrize("truncate", [False, True])
def test_dripping_server_times_out_at_the_deadline(handle: Any, truncate: Any) -> None:
    with raw_server(handle) as port:
        assert failure(f"http://127.0.0.1:{port}/", seconds=0.3, truncate=truncate).code is Code.TIMEOUT


def test_server_that_does_not_read_times_out_at_the_deadline() -> None:
    with (
        raw_server(hang) as port,
        open_session(seconds=0.5) as session,
        pytest.raises(OutboundError) as caught,
    ):
        session.request("PUT", f"http://127.0.0.1:{port}/", data=b"x" * 30_000_000)
    assert caught.value.code is Code.TIMEOUT


def test_deadline_covers_the_whole_call(server: Any) -> None:
    """The deadline covers everything; a call may have one of its own (`timeout`)."""
    with raw_server(hang) as port, open_session(seconds=60) as session:
        with pytest.raises(OutboundError) as caught:
            session.get(f"http://127.0.0.1:{port}/", timeout=(0.1, 0.2))
        assert caught.value.code is Code.TIMEOUT


def test_too_large_response_is_unexpected(server: Any) -> None:
    server.reply = Reply(body=b"x" * (64 * 1024 + 1))
    assert failure(server.url).code is Code.UNEXPECTED_RESPONSE
    server.reply = Reply(body=b"x" * 64 * 1024)
    with open_session() as session:
        assert len(session.get(server.url).content) == 64 * 1024


def test_size_limit_is_per_call_and_can_truncate(server: Any) -> None:
    server.reply = Reply(body=b"x" * 100_000)
    with open_session() as session:
        assert len(session.request("GET", server.url, max_bytes=200_000).content) == 100_000
        with pytest.raises(OutboundError):
            session.get(server.url)
    with open_session(truncate=True, max_bytes=10) as session:
        assert session.get(server.url).content == b"x" * 10


def test_endless_response_is_read_up_to_the_limit() -> None:
    def flood(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with raw_server(flood) as port:
        assert failure(f"http://127.0.0.1:{port}/").code is Code.UNEXPECTED_RESPONSE


def test_limit_applies_to_the_decompressed_response(server: Any) -> None:
    import gzip

    server.reply = Reply(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b"\0" * 10_000_000))
    assert failure(server.url).code is Code.UNEXPECTED_RESPONSE
    assert server.received[0].headers["accept-encoding"] == "identity"


def test_redirect_is_not_followed(server: Any) -> None:
    server.reply = Reply(302, {"Location": server.url + "/elsewhere"})
    error = failure(server.url)
    assert (error.code, error.status) == (Code.REDIRECT, 302)
    assert len(server.received) == 1
    with open_session() as session:
        assert session.get(server.url, allow_redirects=True).status_code == 302


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, Code.REDIRECT),
        (304, Code.REDIRECT),
        (400, Code.HTTP_4XX),
        (404, Code.HTTP_4XX),
        (410, Code.HTTP_4XX),
        (429, Code.HTTP_429),
        (500, Code.HTTP_5XX),
        (503, Code.HTTP_5XX),
    ],
)
def test_error_statuses_are_mapped_to_codes(server: Any, status: Any, code: Any) -> None:
    server.reply = Reply(status, {"Retry-After": "120"})
    error = failure(server.url)
    assert (error.code, error.status, error.retry_after) == (code, status, 120)
    server.reply = Reply(204)
    with open_session() as session:
        check_status(session.get(server.url))


def test_log_contains_no_response_and_no_path(server: Any, caplog: Any) -> None:
    server.reply = Reply(200, {"X-\xe9": "said by the destination"})  # a header that cannot be read
    failure(f"{server.url}/secret-path", seconds=0.5)
    assert "said by" not in caplog.text
    assert "secret-path" not in caplog.text


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", Code.UNEXPECTED_RESPONSE),
        (b"", Code.UNKNOWN),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Code.UNEXPECTED_RESPONSE),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Code.UNEXPECTED_RESPONSE),
    ],
)
def test_malformed_responses_are_mapped_to_codes(response: Any, code: Any) -> None:
    def handle(connection: Any) -> None:
        connection.recv(65536)
        connection.sendall(response)

    with raw_server(handle) as port:
        assert failure(f"http://127.0.0.1:{port}/").code is code


def test_proxies_of_the_environment_are_ignored(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("NO_PROXY", "")
    with open_session() as session:
        assert session.get(server.url).status_code == 200
        assert session.get(server.url, proxies={"http": f"http://127.0.0.1:{closed_port()}"}).ok


def test_cookies_are_not_stored(server: Any) -> None:
    server.reply = Reply(headers={"Set-Cookie": "a=b; Path=/"})
    with open_session() as session:
        session.get(server.url)
        session.get(server.url)
    assert "cookie" not in server.received[1].headers


def test_connection_is_reused_within_a_session(server: Any) -> None:
    with open_session() as session:
        for _ in range(3):
            session.get(server.url)
        adapter: Any = session.get_adapter(server.url)
        (pool,) = adapter.poolmanager.pools._container.values()
        assert pool.num_connections == 1


def test_policy_applies_to_other_session_classes(server: Any) -> None:
    """Authlib has a Session class of its own; its requests must obey the outbound policy, too."""
    session = guard(requests.Session(), Rules(policy=LOOPBACK), raise_redirects=True)
    assert session.get(server.url).status_code == 200
    with pytest.raises(OutboundError) as caught:
        session.get("http://10.0.0.1/")
    assert caught.value.code is Code.BLOCKED
    server.reply = Reply(302, {"Location": "http://10.0.0.1/"})
    with pytest.raises(OutboundError) as caught:
        session.get(server.url)
    assert caught.value.code is Code.REDIRECT
    with pytest.raises(requests.exceptions.InvalidSchema):
        session.get("ftp://127.0.0.1/")


def test_blocked_error_is_not_an_os_error() -> None:
    assert not issubclass(OutboundError, OSError)
