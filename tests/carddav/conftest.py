"""Fixtures for CardDAV: real servers, the fault proxy in front of them, and clients."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from carddav.client.book import AddressBook
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import DavSession, open_session
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import PASSWORD, DavServer, radicale, running_servers, xandikos
from tests.loopback import allow_loopback
from tests.rounds import rounds

USER = "user"


@pytest.fixture(autouse=True)
def _allow_loopback(settings: Any) -> None:
    """The servers of these tests are on loopback."""
    allow_loopback(settings)


@pytest.fixture(scope="session")
def radicale_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavServer]:
    with radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture(scope="session")
def xandikos_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavServer]:
    with xandikos(tmp_path_factory.mktemp("xandikos")) as server:
        yield server


# What a server does cannot depend on our database, so the tests on PostgreSQL use only one.
SERVERS = ["radicale", "xandikos"] if rounds(1) > 1 or "TEST_DATABASE_URL" not in os.environ else ["xandikos"]


@pytest.fixture(params=[*SERVERS, *running_servers()])
def server(request: pytest.FixtureRequest) -> DavServer:
    """Each real server in turn; on PostgreSQL only Xandikos, unless TEST_ROUNDS is 2 or more."""
    if request.param in running_servers():
        return running_servers()[request.param]
    found: DavServer = request.getfixturevalue(f"{request.param}_server")
    return found


@pytest.fixture
def proxy(server: DavServer) -> Iterator[Proxy]:
    """A fault proxy in front of `server`."""
    with fault_proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def waits() -> list[float]:
    """The seconds of each sleep that the client has asked for."""
    return []


@pytest.fixture
def session(proxy: Proxy, waits: list[float]) -> Iterator[DavSession]:
    """A client session through the proxy. Instead of sleeping it appends the seconds to `waits`."""
    with open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        yield session


@dataclass
class RealBook:
    """A new address book on a real server.

    `book` reaches it through the client and the proxy; `put` and `text` act as another client, without the proxy.
    """

    server: DavServer
    path: str
    book: AddressBook

    def put(self, name: str, text: str) -> None:
        self.server.put(USER, self.path + name, text)

    def text(self, name: str) -> str:
        return self.server.get(USER, self.path + name).decode()


@pytest.fixture
def real(server: DavServer, session: DavSession, proxy: Proxy) -> RealBook:
    """A new, empty address book whose capabilities the client has read."""
    path = server.make_book(USER)
    book = AddressBook(session, proxy.url.rstrip("/") + path)
    book.caps = book.fetch_properties().caps
    proxy.clear_requests()
    return RealBook(server, path, book)


@dataclass
class FakeBook:
    """An address book without a server: the test's faults answer every request."""

    proxy: Proxy
    session: DavSession
    book: AddressBook
    path: str = "/ada/book/"


@pytest.fixture
def fake(waits: list[float]) -> Iterator[FakeBook]:
    """A FakeBook with a proxy that has no upstream."""
    with fault_proxy() as proxy, open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        yield FakeBook(proxy, session, AddressBook(session, f"{proxy.url}ada/book/"))


def card(uid: str = "1", name: str = "Ada", *lines: str) -> str:
    """A small vCard 3.0."""
    parts = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", f"FN:{name}", f"N:;{name};;;", *lines, "END:VCARD", ""]
    return "\r\n".join(parts)
