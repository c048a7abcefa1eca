"""POST .../test reports the actual reason of a failure in its response, and leaves nothing behind."""

import ipaddress
import time
from collections.abc import Callable
from typing import Any

import pytest

from contacts_project.kernel.outbound.sockets import Deadline
from notifications.models import Destination
from tests.client import Client
from tests.loopback import PrivateCA, Recorder, Reply, closed_port, raw_server, recording_server
from tests.notifications.test_destinations import PATH, create

pytestmark = pytest.mark.sqlite_suffices

TYPES = pytest.mark.parametrize("type_", ["WEBHOOK", "NTFY"])


@pytest.fixture
def point(api: Client, ntfy: Recorder) -> Callable[..., str]:
    """A function that creates a destination of a type, changes its URL to `url`, and returns its path."""

    def make(type_: str, url: str) -> str:
        created = create(api, type=type_, url=f"{ntfy.url}/push/topic")["endpoint"]
        Destination.unscoped.rows().update(url=f"{url}/topic", server_url=url if type_ == "NTFY" else "")
        return f"{PATH}/{created['id']}/test"

    return make


def test_successful_test(api: Client, ntfy: Recorder, receiver: Recorder) -> None:
    for type_, url in (("WEBHOOK", receiver.url), ("NTFY", f"{ntfy.url}/push/topic")):
        id_ = create(api, type=type_, url=url)["endpoint"]["id"]
        assert api.ok("post", f"{PATH}/{id_}/test") == {"ok": True}
    assert b'"test"' in receiver.received[0].body
    assert b"Test notification" in ntfy.received[-1].body


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, "redirect"),
        (302, "redirect"),
        (307, "redirect"),
        (400, "http_4xx"),
        (401, "http_4xx"),
        (404, "http_4xx"),
        (410, "http_4xx"),
        (429, "http_429"),
        (500, "http_5xx"),
        (503, "http_5xx"),
    ],
)
@TYPES
def test_error_contains_the_status_and_nothing_of_the_response(
    api: Client, point: Callable[..., str], receiver: Recorder, type_: str, status: int, code: str
) -> None:
    receiver.reply = Reply(status, {"Location": "/elsewhere", "Content-Type": "application/json"}, b'"secret inside"')
    response = api.ok("post", point(type_, receiver.url))
    assert response == {"ok": False, "code": code}
    assert len(receiver.received) == 1


@TYPES
def test_refused_connection_is_reported(api: Client, point: Callable[..., str], type_: str) -> None:
    assert api.ok("post", point(type_, f"http://127.0.0.1:{closed_port()}")) == {"ok": False, "code": "refused"}


@TYPES
def test_timeout_is_reported(
    api: Client, point: Callable[..., str], type_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drip(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            time.sleep(0.05)
            connection.sendall(b" ")

    monkeypatch.setattr("contacts_project.kernel.outbound.session.Deadline", short_deadline)
    with raw_server(drip) as port:
        assert api.ok("post", point(type_, f"http://127.0.0.1:{port}")) == {"ok": False, "code": "timeout"}


def short_deadline(seconds: float, **kwargs: Any) -> Deadline:
    return Deadline(min(seconds, 0.4), **kwargs)


@TYPES
def test_tls_error_is_reported(api: Client, point: Callable[..., str], type_: str, tmp_path: Any) -> None:
    with recording_server(PrivateCA(tmp_path).server_context("other.example")) as server:
        assert api.ok("post", point(type_, server.url)) == {"ok": False, "code": "tls"}
        assert server.received == []


@TYPES
def test_private_authority_of_the_operator_is_trusted(
    api: Client, point: Callable[..., str], type_: str, tmp_path: Any, settings: Any
) -> None:
    ca = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = ca.file
    with recording_server(ca.server_context("127.0.0.1")) as server:
        server.reply = Reply(200, {"Content-Type": "application/json"}, b"{}")
        assert api.ok("post", point(type_, server.url)) == {"ok": True}


@TYPES
def test_host_that_no_longer_resolves_or_became_internal_is_reported(
    api: Client, point: Callable[..., str], type_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URL was allowed when it was stored; the address is checked again at every connection."""
    path = point(type_, "https://turncoat.example")
    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", lambda host, port: [])
    assert api.ok("post", path) == {"ok": False, "code": "dns"}
    inside = [ipaddress.ip_address("10.0.0.1")]
    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", lambda host, port: inside)
    assert api.ok("post", path) == {"ok": False, "code": "blocked"}


@TYPES
def test_policy_that_became_stricter_blocks(
    api: Client, point: Callable[..., str], type_: str, receiver: Recorder, settings: Any
) -> None:
    path = point(type_, receiver.url)
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert api.ok("post", path) == {"ok": False, "code": "blocked"}
    assert receiver.received == []


def test_response_in_the_wrong_format_is_an_error_for_ntfy_only(
    api: Client, point: Callable[..., str], receiver: Recorder
) -> None:
    receiver.reply = Reply(200, {"Content-Type": "text/html"}, b"<html>")
    path = point("NTFY", receiver.url)
    assert api.ok("post", path) == {"ok": False, "code": "unexpected_response"}
    api.ok("delete", path.removesuffix("/test"))
    assert api.ok("post", point("WEBHOOK", receiver.url)) == {"ok": True}


@pytest.mark.parametrize("status", [200, 410, 500])
@TYPES
def test_test_does_not_change_the_destination(
    api: Client, point: Callable[..., str], receiver: Recorder, type_: str, status: int
) -> None:
    receiver.reply = Reply(status, {"Content-Type": "application/json"})
    path = point(type_, receiver.url)
    before = Destination.unscoped.rows().values().get()
    for _ in range(5):
        api.ok("post", path)
    assert Destination.unscoped.rows().values().get() == before


def test_disabled_destination_can_be_tested(api: Client, receiver: Recorder) -> None:
    id_ = create(api, url=receiver.url)["endpoint"]["id"]
    api.ok("put", f"{PATH}/{id_}", {"enabled": False})
    assert api.ok("post", f"{PATH}/{id_}/test") == {"ok": True}
