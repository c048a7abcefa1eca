"""The login over https: to hosts that discovery named, to no other."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.client import Book, BookMovedError, discover, open_session
from carddav.client.login import Login
from carddav.models import Connection
from carddav.services import runs
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.carddav.client.test_discovery import BOOK, HOME, PRINCIPAL, multistatus
from tests.carddav.conftest import USER
from tests.carddav.servers import PASSWORD
from tests.client import Client
from tests.loopback import PrivateCA, Received, Recorder, Reply, closed_port, recording_server


@dataclass
class Hosts:
    """Two servers with certificates of their own: what the user typed, and another."""

    here: Recorder
    there: Recorder

    @property
    def elsewhere(self) -> str:
        return f"https://localhost:{self.there.port}"

    def logins_there(self) -> int:
        return sum("authorization" in request.headers for request in self.there.received)


@pytest.fixture
def hosts(tmp_path: Path, settings: Any) -> Iterator[Hosts]:
    authority = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = authority.file
    with ExitStack() as stack:
        here, there = (
            stack.enter_context(recording_server(authority.server_context(name))) for name in ("127.0.0.1", "localhost")
        )
        there.reply = account
        yield Hosts(here, there)


def account(request: Received) -> Reply:
    """A whole account."""
    answers = {
        "/dav/": multistatus(("/dav/", PRINCIPAL)),
        "/p/ada/": multistatus(("/p/ada/", HOME)),
        "/h/ada/": multistatus(BOOK),
        "/h/ada/b/": multistatus(BOOK),
    }
    if request.method == "PUT":
        return Reply(201, {"ETag": '"1"'})
    body = answers.get(request.path)
    return Reply(207, {"Content-Type": "application/xml"}, body.encode()) if body else Reply(404)


def test_a_redirect_of_discovery_names_the_host(hosts: Hosts) -> None:
    hosts.here.reply = Reply(301, {"Location": f"{hosts.elsewhere}/dav/"})
    with open_session(Login(f"{hosts.here.url}/", USER, PASSWORD)) as session:
        found = discover(session)
    assert found.book.url == f"{hosts.elsewhere}/h/ada/b/"
    assert hosts.logins_there() == len(hosts.there.received)


def test_a_home_on_another_host_is_named_too(hosts: Hosts) -> None:
    home = HOME.replace("/h/ada/", f"{hosts.elsewhere}/h/ada/")
    hosts.here.reply = Reply(207, {"Content-Type": "application/xml"}, multistatus(("/", home)).encode())
    with open_session(Login(f"{hosts.here.url}/", USER, PASSWORD)) as session:
        found = discover(session)
    assert found.home_urls == (f"{hosts.elsewhere}/h/ada/",)
    assert hosts.logins_there() == 1


def test_a_book_that_redirects_later_gets_nothing_elsewhere(hosts: Hosts) -> None:
    hosts.here.reply = Reply(302, {"Location": f"{hosts.elsewhere}/dav/"})
    url = f"{hosts.here.url}/book/"
    with open_session(Login(f"{hosts.here.url}/", USER, PASSWORD), trusted_urls=[url]) as session:
        with pytest.raises(BookMovedError):
            Book(session, url).list()
        assert hosts.there.received == []


def test_what_discovery_named_before_may_have_the_login(hosts: Hosts) -> None:
    url = f"{hosts.elsewhere}/h/ada/b/"
    login = Login(f"{hosts.here.url}/", USER, PASSWORD)
    with open_session(login, trusted_urls=[url]) as session:
        Book(session, url).list()
    assert hosts.logins_there() == 1


def leave(hosts: Hosts, owner: User, status: int, *, is_named: bool) -> Connection:
    """The owner's book, which is not at its host any more, as between iCloud's partitions."""
    home = HOME.replace("/h/ada/", f"{hosts.elsewhere}/h/ada/")

    def here(request: Received) -> Reply:
        if request.path == "/" and is_named:
            return Reply(207, {"Content-Type": "application/xml"}, multistatus(("/", home)).encode())
        if request.path == "/h/ada/b/":
            return Reply(status, {"Location": f"{hosts.elsewhere}/h/ada/b/"})
        return Reply(404)

    hosts.here.reply = here
    return make_connection(owner, server_url=f"{hosts.here.url}/", book_url=f"{hosts.here.url}/h/ada/b/")


@pytest.mark.one_database
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("status", [302, 404, 421])
def test_a_stored_book_is_followed_to_a_host_that_discovery_names(
    alice: User, hosts: Hosts, status: int, is_named: bool
) -> None:
    connection = leave(hosts, alice, status, is_named=is_named)
    book_url = connection.book_url
    run = runs.execute_run(runs.start_run(owner=alice, trigger="manual", now=timezone.now()).pk)
    connection.refresh_from_db()
    if is_named:
        assert (run.code, run.error) == ("", "")
        assert connection.book_url == f"{hosts.elsewhere}/h/ada/b/"
    else:
        assert run.code == "book_gone"
        assert "save the connection" in run.error
        assert connection.book_url == book_url
        assert hosts.there.received == []


@pytest.mark.parametrize("route", ["discover", "export-bulk", "backup"])
def test_what_else_asks_the_server_follows_the_book_too(alice: User, api: Client, hosts: Hosts, route: str) -> None:
    leave(hosts, alice, 404, is_named=True)
    body = {"personIds": [str(make_person(alice).pk)]} if route == "export-bulk" else None
    if route == "backup":
        assert api.call("POST", "/api/carddav/backup", body)["X-Contact-Count"] == "0"
    else:
        assert api.ok("POST", f"/api/carddav/{route}", body)["errorMessages"] == []
    assert hosts.logins_there() == len(hosts.there.received) > 0


def test_a_redirect_to_a_dead_port_of_the_host_is_looked_for_here(hosts: Hosts) -> None:
    moved = Reply(301, {"Location": f"https://127.0.0.1:{closed_port()}/dav/"})
    hosts.here.reply = lambda request: moved if "well-known" in request.path else account(request)
    with open_session(Login(f"{hosts.here.url}/", USER, PASSWORD)) as session:
        assert discover(session).book.url == f"{hosts.here.url}/h/ada/b/"
