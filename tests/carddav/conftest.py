"""Servers of the session, and the setting that opens loopback to the client."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from carddav.client import Book, DavSession, Login, open_session
from tests.carddav.proxy import Proxy, fault_proxy
from tests.carddav.servers import PASSWORD, DavServer, radicale, running_servers, xandikos
from tests.rounds import rounds

USER = "user"


@pytest.fixture(autouse=True)
def _loopback_is_open(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    settings.OUTBOUND_ALLOWED_PORTS = ["*"]


@pytest.fixture(scope="session")
def radicale_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavServer]:
    with radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture(scope="session")
def xandikos_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavServer]:
    with xandikos(tmp_path_factory.mktemp("xandikos")) as server:
        yield server


# What a server does hangs on no database of ours: beside PostgreSQL one of them is enough.
SERVERS = ["radicale", "xandikos"] if rounds(1) > 1 or "TEST_DATABASE_URL" not in os.environ else ["xandikos"]


@pytest.fixture(params=[*SERVERS, *running_servers()])
def server(request: pytest.FixtureRequest) -> DavServer:
    """Each of the real servers, with TEST_ROUNDS=2 on PostgreSQL, too."""
    if request.param in running_servers():
        return running_servers()[request.param]
    found: DavServer = request.getfixturevalue(f"{request.param}_server")
    return found


@pytest.fixture
def proxy(server: DavServer) -> Iterator[Proxy]:
    """In front of `server`."""
    with fault_proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client would have slept."""
    return []


@pytest.fixture
def session(proxy: Proxy, waits: list[float]) -> Iterator[DavSession]:
    """The client, through the proxy; it does not really sleep."""
    with open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        yield session


@dataclass
class RealBook:
    """A new book on a real server: `book` is the client's view, through the proxy; `server` the other side's."""

    server: DavServer
    path: str
    book: Book

    def put(self, name: str, text: str) -> None:
        self.server.put(USER, self.path + name, text)

    def text(self, name: str) -> str:
        return self.server.get(USER, self.path + name).decode()


@pytest.fixture
def real(server: DavServer, session: DavSession, proxy: Proxy) -> RealBook:
    """A new, empty book whose capabilities are known."""
    path = server.make_book(USER)
    book = Book(session, proxy.url.rstrip("/") + path)
    book.caps = book.fetch_properties().caps
    proxy.forget()
    return RealBook(server, path, book)


@dataclass
class FakeBook:
    """A book whose server answers what the test's faults say."""

    proxy: Proxy
    session: DavSession
    book: Book
    path: str = "/ada/book/"


@pytest.fixture
def fake(waits: list[float]) -> Iterator[FakeBook]:
    """No server at all: every request is answered by a fault."""
    with fault_proxy() as proxy, open_session(Login(proxy.url, USER, PASSWORD), sleep=waits.append) as session:
        yield FakeBook(proxy, session, Book(session, f"{proxy.url}ada/book/"))


def card(uid: str = "1", name: str = "Ada", *lines: str) -> str:
    """A small card of version 3.0."""
    parts = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{uid}", f"FN:{name}", f"N:;{name};;;", *lines, "END:VCARD", ""]
    return "\r\n".join(parts)
