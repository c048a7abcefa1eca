"""What applies to every request: login, redirects, retries and timeouts."""

from pathlib import Path
from typing import Any

import pytest

from carddav.client.book import AddressBook
from contacts_project.kernel.webdav.errors import (
    CollectionGoneError,
    ConnectionRejectedError,
    DnsError,
    LoginRefusedError,
    NotDavError,
    PolicyError,
    ServerBusyError,
    ServerTimeoutError,
    TlsError,
)
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from contacts_project.kernel.webdav.shapes import Missing
from tests.carddav.conftest import USER, FakeBook, RealBook
from tests.carddav.faults import at, digest_only, fail, hang, redirect
from tests.carddav.proxy import Proxy
from tests.carddav.servers import PASSWORD
from tests.loopback import PrivateCA, Reply, closed_port, recording_server

EMPTY = '<multistatus xmlns="DAV:"><sync-token>t</sync-token></multistatus>'


def list_book(url: str, **options: Any) -> None:
    with open_session(Login(url, USER, PASSWORD), **options) as session:
        AddressBook(session, f"{url}book/").list()


def test_login_is_sent_with_the_first_request(real: RealBook, proxy: Proxy) -> None:
    real.book.list()
    [request] = proxy.requests
    assert request.headers["authorization"] == "Basic dXNlcjpzZWNyZXQ="


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_digest_authentication(real: RealBook, proxy: Proxy, algorithm: str) -> None:
    proxy.add(digest_only(USER, PASSWORD, algorithm=algorithm))
    for _ in range(5):
        real.book.list()
    schemes = [request.headers["authorization"].partition(" ")[0] for request in proxy.requests]
    # One request with Basic; then each nonce is good for two requests, and a third is refused because it is stale.
    assert schemes == ["Basic"] + ["Digest"] * 7


def test_digest_signs_the_path_that_is_sent(fake: FakeBook) -> None:
    fake.proxy.add(digest_only(USER, PASSWORD))
    fake.proxy.add(fail(404))
    assert isinstance(fake.book.get("b%c3%bc.vcf"), Missing)
    request = fake.proxy.requests[-1]
    assert f'uri="{request.path}"' in request.headers["authorization"]


@pytest.mark.parametrize(("challenge", "requests"), [('Basic realm="dav"', 1), ('Digest realm="dav", nonce="n"', 2)])
def test_refused_login_is_sent_once_or_twice_with_digest(fake: FakeBook, challenge: str, requests: int) -> None:
    fake.proxy.add(fail(401, headers={"WWW-Authenticate": challenge}))
    with pytest.raises(LoginRefusedError):
        fake.book.list()
    assert fake.proxy.count() == requests


def test_redirect_keeps_method_body_and_depth(real: RealBook, proxy: Proxy) -> None:
    path = real.path.rstrip("/")
    real.book.url = proxy.url.rstrip("/") + path
    proxy.add(redirect(302, f"{path}/", when=at(path)))
    real.book.list()
    first, second = proxy.requests
    assert (first.method, first.body, first.headers["depth"]) == (second.method, second.body, second.headers["depth"])


def test_login_is_not_sent_to_other_hosts(fake: FakeBook) -> None:
    with recording_server() as other:
        fake.proxy.add(redirect(302, f"http://localhost:{other.port}/book/"))
        with pytest.raises(NotDavError):
            fake.book.list()
        assert other.received == []


def test_busy_server_is_retried_with_growing_delays(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(503, times=2))
    fake.proxy.add(fail(207, EMPTY))
    assert fake.book.changes("t", "").is_unchanged
    assert [round(wait) for wait in waits] == [1, 2]


def test_long_retry_after_is_left_to_the_caller(fake: FakeBook, waits: list[float]) -> None:
    fake.proxy.add(fail(429, headers={"Retry-After": "300"}))
    with pytest.raises(ServerBusyError) as caught:
        fake.book.list()
    assert (caught.value.retry_after, waits, fake.proxy.count()) == (300, [], 1)


@pytest.mark.parametrize("header", ["86400", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_retry_after_is_limited_to_an_hour(fake: FakeBook, header: str) -> None:
    fake.proxy.add(fail(503, headers={"Retry-After": header}))
    with pytest.raises(ServerBusyError) as caught:
        fake.book.list()
    assert caught.value.retry_after == 3600


def test_silent_server_times_out(fake: FakeBook) -> None:
    fake.proxy.add(hang())
    with pytest.raises(ServerTimeoutError):
        list_book(fake.proxy.url, seconds=0.5)


def test_connection_errors_are_distinguished(settings: Any) -> None:
    with pytest.raises(ConnectionRejectedError):
        list_book(f"http://127.0.0.1:{closed_port()}/")
    with pytest.raises(DnsError):
        list_book("http://nowhere.invalid/")  # the policy allows http and https for CardDAV
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    with pytest.raises(PolicyError):
        list_book("http://127.0.0.1/")


def test_untrusted_certificate_gets_no_login(tmp_path: Path, settings: Any) -> None:
    authority = PrivateCA(tmp_path)
    with recording_server(authority.server_context("127.0.0.1", self_signed=True)) as server:
        with pytest.raises(TlsError) as caught:
            list_book(f"{server.url}/")
        assert "certificate" in str(caught.value)
        assert server.received == []
    settings.OUTBOUND_CA_FILE = authority.file
    with recording_server(authority.server_context("127.0.0.1")) as server:
        server.reply = Reply(404)
        with pytest.raises(CollectionGoneError):
            list_book(f"{server.url}/")
        assert len(server.received) == 1


def test_redirect_from_https_to_http_of_the_same_host_stays_https(tmp_path: Path, settings: Any) -> None:
    authority = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = authority.file
    with recording_server(authority.server_context("127.0.0.1")) as server:
        plain = Reply(301, {"Location": f"http://127.0.0.1:{server.port}/book/"})
        server.reply = lambda request: plain if request.path == "/book" else Reply(404)
        with open_session(Login(f"{server.url}/", USER, PASSWORD)) as session:
            response, _ = session.send("PROPFIND", f"{server.url}/book")
            response.close()
        assert [request.path for request in server.received] == ["/book", "/book/"]
