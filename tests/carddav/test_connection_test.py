"""Trying a server out: what is found, and a name for everything that can go wrong."""

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


def refusal(api: Client, url: str) -> tuple[int, str]:
    answer = api.call("POST", PATH, body(url))
    reply = answer.json()
    assert reply["success"] is False
    assert reply["error"]
    return answer.status_code, reply["code"]


def test_the_books_that_a_login_finds_are_listed(api: Client, server: DavServer, proxy: Proxy) -> None:
    path = server.make_book(USER, "Family")
    reply = api.ok("POST", PATH, body(proxy.url))
    assert reply["success"] is True
    assert reply["message"]
    assert {"url": f"{proxy.url.rstrip('/')}{path}", "name": "Family"} in reply["addressBooks"]
    assert api.call("GET", "/api/carddav/connection").status_code == 404


def test_a_refused_login_costs_one_request(api: Client) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(401, headers={"WWW-Authenticate": 'Basic realm="dav"'}))
        assert refusal(api, proxy.url) == (401, "auth")
        assert proxy.count() == 1


def test_what_is_not_there(api: Client) -> None:
    assert refusal(api, f"http://127.0.0.1:{closed_port()}/") == (404, "refused")
    assert refusal(api, "https://nowhere.invalid/") == (404, "dns")
    with fault_proxy() as proxy:
        proxy.add(sign_in_page())
        assert refusal(api, proxy.url) == (404, "not_carddav")


def test_a_silent_server_is_left_after_a_while(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_checks, "CHECK_SECONDS", 0.5)
    with fault_proxy() as proxy:
        proxy.add(hang())
        assert refusal(api, proxy.url) == (408, "timeout")


def test_a_server_that_is_busy_is_no_missing_server(api: Client) -> None:
    with fault_proxy() as proxy:
        proxy.add(fail(503, headers={"Retry-After": "300"}))
        assert refusal(api, proxy.url) == (502, "busy")
        assert api.call("POST", PATH, body(proxy.url))["Retry-After"] == "300"


def test_the_policy_and_tls_are_the_callers_to_mend(api: Client, settings: Any, tmp_path: Path) -> None:
    with recording_server(PrivateCA(tmp_path).server_context("127.0.0.1")) as server:
        assert refusal(api, f"{server.url}/") == (400, "tls")
        assert server.received == []
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert refusal(api, "https://127.0.0.1/") == (400, "policy")
    assert refusal(api, "http://127.0.0.1/") == (400, "policy")
    assert refusal(api, "http://dav.example/") == (404, "dns")  # over http or https: only its address may be refused


def test_ten_in_a_quarter_of_an_hour(api: Client, stranger: Client) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    assert api.call("POST", PATH, body("https://no url/")).status_code == 400  # costs nothing
    for _ in range(10):
        assert refusal(api, url) == (404, "refused")
    limited = api.call("POST", PATH, body(url))
    assert limited.status_code == 429
    assert limited.json()["retryAfter"] > 0
    assert refusal(stranger, url) == (404, "refused")


@pytest.mark.parametrize("missing", ["serverUrl", "username", "password"])
def test_all_three_are_required(api: Client, missing: str) -> None:
    answer = api.call("POST", PATH, {key: value for key, value in body("https://x.example/").items() if key != missing})
    assert [detail["field"] for detail in answer.json()["details"]] == [missing]
