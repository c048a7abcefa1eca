"""Testing a connection: the books that are found, and an error code for everything that can go wrong."""

import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest

from carddav.services import server_checks
from contacts_project.kernel.outbound import sockets
from contacts_project.kernel.webdav import discovery
from tests.carddav.conftest import USER
from tests.carddav.faults import fail, hang, method, redirect, sign_in_page
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import PASSWORD, DavServer
from tests.client import Client
from tests.loopback import PrivateCA, closed_port, recording_server

pytestmark = pytest.mark.sqlite_suffices

PATH = "/api/carddav/connection/test"


def body(url: str, **changes: Any) -> dict[str, Any]:
    return {"serverUrl": url, "username": USER, "password": PASSWORD, **changes}


def error_of(api: Client, url: str) -> tuple[int, str]:
    response = api.call("POST", PATH, body(url))
    reply = response.json()
    assert reply["success"] is False
    assert reply["error"]
    return response.status_code, reply["code"]


def test_found_books_are_listed(api: Client, server: DavServer, proxy: Proxy) -> None:
    path = server.make_book(USER, "Family")
    reply = api.ok("POST", PATH, body(proxy.url))
    assert reply["success"] is True
    assert reply["message"]
    assert {"url": f"{proxy.url.rstrip('/')}{path}", "name": "Family"} in reply["addressBooks"]
    assert api.call("GET", "/api/carddav/connection").status_code == 404


def test_refused_login_takes_one_request(api: Client) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="dav"'}))
        assert error_of(api, proxy.url) == (401, "auth")
        assert proxy.count() == 1


def test_unreachable_servers_are_404(api: Client) -> None:
    assert error_of(api, f"http://127.0.0.1:{closed_port()}/") == (404, "refused")
    assert error_of(api, "https://nowhere.invalid/") == (404, "dns")
    with fault_proxy() as proxy:
        proxy.add(sign_in_page())
        assert error_of(api, proxy.url) == (404, "not_carddav")


def test_silent_server_times_out(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_checks, "CHECK_SECONDS", 0.5)
    with fault_proxy() as proxy:
        proxy.add(hang())
        assert error_of(api, proxy.url) == (408, "timeout")


def test_busy_server_is_not_a_missing_server(api: Client) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(503, headers={"Retry-After": "300"}))
        assert error_of(api, proxy.url) == (502, "busy")
        assert api.call("POST", PATH, body(proxy.url))["Retry-After"] == "300"


def test_policy_and_tls_errors_are_400(api: Client, settings: Any, tmp_path: Path) -> None:
    with recording_server(PrivateCA(tmp_path).server_context("127.0.0.1")) as server:
        assert error_of(api, f"{server.url}/") == (400, "tls")
        assert server.received == []
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert error_of(api, "https://127.0.0.1/") == (400, "policy")
    assert error_of(api, "http://127.0.0.1/") == (400, "policy")
    assert error_of(api, "http://dav.example/") == (
        404,
        "dns",
    )  # http is allowed for CardDAV, so only the address can be refused


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "https://127.0.0.1./",
        "https://127.0.0.1../",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://0x7f.0.0.1/",
        "https://127.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://ada@dav.example/",
        "https://ada:secret@127.0.0.1/",
        "https://dav.example:8443/",
        "https://-bad-.example/",
        "ftp://dav.example/",
        "file:///etc/passwd",
        "10.0.0.1",
        "https://１２７.0.0.1/",
    ],
)
def test_each_refused_address_is_a_policy_error_that_counts_against_no_rate_limit(
    api: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS, settings.OUTBOUND_ALLOWED_PORTS = [], []
    monkeypatch.setattr(socket.socket, "connect", None)  # nothing is opened
    for _ in range(12):
        assert error_of(api, url) == (400, "policy")


def test_names_that_lead_to_refused_addresses_are_policy_errors(
    api: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    monkeypatch.setattr(sockets, "system_resolve", lambda host, port: [ipaddress.ip_address("10.0.0.1")])
    monkeypatch.setattr(discovery, "find_services", lambda host: [])
    for url in ("https://internal.example/", "https://internal.example./", "internal.example", "ada@internal.example"):
        assert error_of(api, url) == (400, "policy")


@pytest.mark.parametrize(
    "location",
    [
        "https://10.0.0.1/dav/",
        "http://10.0.0.1/dav/",
        "https://169.254.169.254/latest/meta-data",
        "http://169.254.169.254/",
        "https://2886729728/",
        "https://0177.0.0.1/",
        "https://ada:secret@dav.example/",
        "http://ada@dav.example/",
        "https://[::ffff:10.0.0.1]/",
        "//10.0.0.1/",
    ],
)
@pytest.mark.parametrize("method_name", ["PROPFIND", "GET"])
def test_redirect_to_a_refused_address_is_a_policy_error(api: Client, location: str, method_name: str) -> None:
    with fault_proxy() as proxy:
        proxy.add(redirect(301, location, when=method(method_name)))
        proxy.add(sign_in_page())
        assert error_of(api, proxy.url) == (400, "policy")


@pytest.mark.parametrize(
    "url",
    ["localhost", "nas", "nas:5232", "nas/remote.php", "nas.", "ada@nas", "mailto:ada@nas", "[::1]:5232", "no url"],
)
def test_text_that_is_neither_url_nor_domain_is_an_invalid_field(api: Client, url: str) -> None:
    response = api.call("POST", PATH, body(url))
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert [detail["field"] for detail in response.json()["details"]] == ["serverUrl"]


def test_tests_are_limited_to_ten_in_fifteen_minutes(api: Client, stranger: Client) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    assert api.call("POST", PATH, body("https://no url/")).status_code == 400  # not counted by the rate limit
    for _ in range(10):
        assert error_of(api, url) == (404, "refused")
    limited = api.call("POST", PATH, body(url))
    assert limited.status_code == 429
    assert limited.json()["retryAfter"] > 0
    assert error_of(stranger, url) == (404, "refused")


@pytest.mark.parametrize("missing", ["serverUrl", "username", "password"])
def test_url_user_name_and_password_are_required(api: Client, missing: str) -> None:
    response = api.call(
        "POST", PATH, {key: value for key, value in body("https://x.example/").items() if key != missing}
    )
    assert [detail["field"] for detail in response.json()["details"]] == [missing]
