"""The login, redirects and patience: what holds for every request."""

from pathlib import Path
from typing import Any

import pytest

from carddav.client import (
    Book,
    BookGoneError,
    BusyError,
    ConnectionRejectedError,
    DnsError,
    LoginRefusedError,
    Missing,
    NotCardDavError,
    PolicyError,
    ServerTimeoutError,
    TlsError,
    open_session,
)
from carddav.client.login import Login
from tests.carddav.conftest import USER, FakeBook, RealBook
from tests.carddav.faults import at, digest_only, fail, hang, redirect
from tests.carddav.proxy import Proxy
from tests.carddav.servers import PASSWORD
from tests.loopback import PrivateCA, Reply, closed_port, recording_server

EMPTY = '<multistatus xmlns="DAV:"><sync-token>t</sync-token></multistatus>'


def ask(url: str, **options: Any) -> None:
    with open_session(Login(url, USER, PASSWORD), **options) as session:
        Book(session, f"{url}book/").list()


def test_the_login_goes_out_with_the_first_request(real: RealBook, proxy: Proxy) -> None:
    real.book.list()
    [request] = proxy.requests
    assert request.headers["authorization"] == "Basic dXNlcjpzZWNyZXQ="


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_digest_where_a_server_asks_for_it(real: RealBook, proxy: Proxy, algorithm: str) -> None:
    proxy.add(digest_only(USER, PASSWORD, algorithm=algorithm))
    for _ in range(5):
        real.book.list()
    schemes = [request.headers["authorization"].partition(" ")[0] for request in proxy.requests]
    # Basic once; then two requests a nonce, and a third that is told that it is stale.
    assert schemes == ["Basic"] + ["Digest"] * 7


def test_digest_signs_the_path_as_it_is_sent(fake: FakeBook) -> None:
    fake.proxy.add(digest_only(USER, PASSWORD))
    fake.proxy.add(fail(404))
    assert isinstance(fake.book.get("b%c3%bc.vcf"), Missing)
    request = fake.proxy.requests[-1]
    assert f'uri="{request.path}"' in request.headers["authorization"]


@pytest.mark.parametrize(("challenge", "requests"), [('Basic realm="dav"', 1), ('Digest realm="dav", nonce="n"', 2)])
def test_a_refused_login_is_sent_once_or_with_digest_twice(fake: FakeBook, challenge: str, requests: int) -> None:
    fake.proxy.add(fail(401, headers={"WWW-Authenticate": challenge}))
    with pytest.raises(LoginRefusedError):
        fake.book.list()
    assert fake.proxy.count() == requests


def test_a_redirect_keeps_method_body_and_depth(real: RealBook, proxy: Proxy) -> None:
    path = real.path.rstrip("/")
    real.book.url = proxy.url.rstrip("/") + path
    proxy.add(redirect(302, f"{path}/", when=at(path)))
    real.book.list()
    first, second = proxy.requests
    assert (first.method, first.body, first.headers["depth"]) == (second.method, second.body, second.headers["depth"])


def test_the_login_stays_with_its_host(fake: FakeBook) -> None:
    with recording_server() as other:
        fake.proxy.add(redirect(302, f"http://localhost:{other.port}/book/"))
        with pytest.raises(NotCardDavError):
            fake.book.list()
        assert other.received == []


def test_a_busy_server_is_asked_again_after_growing_waits(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(503, times=2))
    fake.proxy.add(fail(207, EMPTY))
    assert fake.book._sync_collection("t").is_unchanged
    assert [round(wait) for wait in waits] == [1, 2]


def test_a_long_wait_is_left_to_the_caller(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(429, headers={"Retry-After": "300"}))
    with pytest.raises(BusyError) as caught:
        fake.book.list()
    assert (caught.value.retry_after, waits, fake.proxy.count()) == (300, [], 1)


@pytest.mark.parametrize("header", ["86400", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_nobody_waits_longer_than_an_hour(fake: FakeBook, header: str) -> None:
    fake.proxy.add(fail(503, headers={"Retry-After": header}))
    with pytest.raises(BusyError) as caught:
        fake.book.list()
    assert caught.value.retry_after == 3600


def test_silence_ends_when_the_time_is_up(fake: FakeBook) -> None:
    fake.proxy.add(hang())
    with pytest.raises(ServerTimeoutError):
        ask(fake.proxy.url, seconds=0.5)


def test_each_way_to_be_out_of_reach_has_a_name(settings: Any) -> None:
    with pytest.raises(ConnectionRejectedError):
        ask(f"http://127.0.0.1:{closed_port()}/")
    with pytest.raises(DnsError):
        ask("http://nowhere.invalid/")  # over http or https, as the contract's policy for CardDAV has it
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    with pytest.raises(PolicyError):
        ask("http://127.0.0.1/")


def test_a_certificate_of_nobody_known_gets_no_login(tmp_path: Path, settings: Any) -> None:
    authority = PrivateCA(tmp_path)
    with recording_server(authority.server_context("127.0.0.1", self_signed=True)) as server:
        with pytest.raises(TlsError) as caught:
            ask(f"{server.url}/")
        assert "certificate" in str(caught.value)
        assert server.received == []
    settings.OUTBOUND_CA_FILE = authority.file
    with recording_server(authority.server_context("127.0.0.1")) as server:
        server.reply = Reply(404)
        with pytest.raises(BookGoneError):
            ask(f"{server.url}/")
        assert len(server.received) == 1


def test_a_redirect_from_https_to_http_of_the_same_host_stays_encrypted(tmp_path: Path, settings: Any) -> None:
    authority = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = authority.file
    with recording_server(authority.server_context("127.0.0.1")) as server:
        plain = Reply(301, {"Location": f"http://127.0.0.1:{server.port}/book/"})
        server.reply = lambda request: plain if request.path == "/book" else Reply(404)
        with open_session(Login(f"{server.url}/", USER, PASSWORD)) as session:
            answer, _ = session.send("PROPFIND", f"{server.url}/book")
            answer.close()
        assert [request.path for request in server.received] == ["/book", "/book/"]
