"""Over https, the login is sent only to hosts that discovery has named."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.client.book import AddressBook
from carddav.client.discovery import discover
from carddav.models import Connection
from carddav.services import runs
from contacts_project.kernel.webdav.errors import CollectionMovedError
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.carddav.client.test_discovery import BOOK, HOME, PRINCIPAL, multistatus
from tests.carddav.conftest import USER
from tests.carddav.servers import PASSWORD
from tests.client import Client
from tests.loopback import PrivateCA, Received, Recorder, Reply, closed_port, recording_server


@dataclass
class Hosts:
    """Two servers with their own certificates: the one whose URL the user entered, and another one."""

    first_host: Recorder
    other_host: Recorder

    @property
    def other_url(self) -> str:
        return f"https://localhost:{self.other_host.port}"

    def count_logins_at_other_host(self) -> int:
        return sum("authorization" in request.headers for request in self.other_host.received)


@pytest.fixture
def hosts(tmp_path: Path, settings: Any) -> Iterator[Hosts]:
    authority = PrivateCA(tmp_path)
    settings.OUTBOUND_CA_FILE = authority.file
    with ExitStack() as stack:
        first_host, other_host = (
            stack.enter_context(recording_server(authority.server_context(name))) for name in ("127.0.0.1", "localhost")
        )
        other_host.reply = account_response
        yield Hosts(first_host, other_host)


def account_response(request: Received) -> Reply:
    """The responses of a server with one account and one book."""
    responses = {
        "/dav/": multistatus(("/dav/", PRINCIPAL)),
        "/p/ada/": multistatus(("/p/ada/", HOME)),
        "/h/ada/": multistatus(BOOK),
        "/h/ada/b/": multistatus(BOOK),
    }
    if request.method == "PUT":
        return Reply(201, {"ETag": '"1"'})
    body = responses.get(request.path)
    return Reply(207, {"Content-Type": "application/xml"}, body.encode()) if body else Reply(404)


def test_redirect_during_discovery_names_the_host(hosts: Hosts) -> None:
    hosts.first_host.reply = Reply(301, {"Location": f"{hosts.other_url}/dav/"})
    with open_session(Login(f"{hosts.first_host.url}/", USER, PASSWORD)) as session:
        found = discover(session)
    assert found.book.url == f"{hosts.other_url}/h/ada/b/"
    assert hosts.count_logins_at_other_host() == len(hosts.other_host.received)


def test_home_set_names_the_host(hosts: Hosts) -> None:
    home = HOME.replace("/h/ada/", f"{hosts.other_url}/h/ada/")
    hosts.first_host.reply = Reply(207, {"Content-Type": "application/xml"}, multistatus(("/", home)).encode())
    with open_session(Login(f"{hosts.first_host.url}/", USER, PASSWORD)) as session:
        found = discover(session)
    assert found.home_urls == (f"{hosts.other_url}/h/ada/",)
    assert hosts.count_logins_at_other_host() == 1


def test_redirect_of_a_book_does_not_name_the_host(hosts: Hosts) -> None:
    hosts.first_host.reply = Reply(302, {"Location": f"{hosts.other_url}/dav/"})
    url = f"{hosts.first_host.url}/book/"
    with open_session(Login(f"{hosts.first_host.url}/", USER, PASSWORD), trusted_urls=[url]) as session:
        with pytest.raises(CollectionMovedError):
            AddressBook(session, url).list()
        assert hosts.other_host.received == []


def test_host_named_by_an_earlier_discovery_gets_the_login(hosts: Hosts) -> None:
    url = f"{hosts.other_url}/h/ada/b/"
    login = Login(f"{hosts.first_host.url}/", USER, PASSWORD)
    with open_session(login, trusted_urls=[url]) as session:
        AddressBook(session, url).list()
    assert hosts.count_logins_at_other_host() == 1


def connect_moved_book(hosts: Hosts, owner: User, status: int, *, is_named: bool) -> Connection:
    """Create a connection whose stored book has moved to another host, as when iCloud moves an account.

    `is_named`: whether discovery names the other host.
    """
    home = HOME.replace("/h/ada/", f"{hosts.other_url}/h/ada/")

    def respond(request: Received) -> Reply:
        if request.path == "/" and is_named:
            return Reply(207, {"Content-Type": "application/xml"}, multistatus(("/", home)).encode())
        if request.path == "/h/ada/b/":
            return Reply(status, {"Location": f"{hosts.other_url}/h/ada/b/"})
        return Reply(404)

    hosts.first_host.reply = respond
    return make_connection(owner, server_url=f"{hosts.first_host.url}/", book_url=f"{hosts.first_host.url}/h/ada/b/")


@pytest.mark.one_database
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("status", [302, 404, 421])
def test_moved_book_is_followed_if_discovery_names_the_host(
    alice: User, hosts: Hosts, status: int, is_named: bool
) -> None:
    connection = connect_moved_book(hosts, alice, status, is_named=is_named)
    book_url = connection.book_url
    run = runs.execute_run(runs.start_run(owner=alice, trigger="manual", now=timezone.now()).pk)
    connection.refresh_from_db()
    if is_named:
        assert (run.code, run.error) == ("", "")
        assert connection.book_url == f"{hosts.other_url}/h/ada/b/"
    else:
        assert run.code == "book_gone"
        assert "save the connection" in str(run.error)
        assert connection.book_url == book_url
        assert hosts.other_host.received == []


@pytest.mark.parametrize("route", ["discover", "export-bulk", "backup"])
def test_other_operations_follow_a_moved_book(alice: User, api: Client, hosts: Hosts, route: str) -> None:
    connect_moved_book(hosts, alice, 404, is_named=True)
    body = {"personIds": [str(make_person(alice).pk)]} if route == "export-bulk" else None
    if route == "backup":
        assert api.call("POST", "/api/carddav/backup", body)["X-Contact-Count"] == "0"
    else:
        assert api.ok("POST", f"/api/carddav/{route}", body)["errorMessages"] == []
    assert hosts.count_logins_at_other_host() == len(hosts.other_host.received) > 0


def test_redirect_to_a_closed_port_keeps_the_original_port(hosts: Hosts) -> None:
    moved = Reply(301, {"Location": f"https://127.0.0.1:{closed_port()}/dav/"})
    hosts.first_host.reply = lambda request: moved if "well-known" in request.path else account_response(request)
    with open_session(Login(f"{hosts.first_host.url}/", USER, PASSWORD)) as session:
        assert discover(session).book.url == f"{hosts.first_host.url}/h/ada/b/"
