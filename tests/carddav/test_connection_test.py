"""Testing a connection: the books that are found, and an error code for everything that can go wrong."""

from pathlib import Path
from typing import Any

import pytest

from carddav.services import server_checks
from tests.carddav.conftest import USER
from tests.carddav.faults import fail, hang, sign_in_page
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
