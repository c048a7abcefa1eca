"""Connections that PostgreSQL ends between two requests, within the second in which a connection is not checked."""

from typing import Any

import pytest
import requests
from django.core.signals import request_started
from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database import postgresql
from contacts_project.operation import health
from people.models import Person
from tests.builders import make_token
from tests.contacts_project.server.server_thread import serve_whole_service

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no server"),
]


@pytest.fixture(autouse=True)
def _receivers_in_order() -> None:
    """Each request of Django's test client connects Django's receiver anew, after the one that is tested here."""
    request_started.disconnect(dispatch_uid="health_checks")
    request_started.connect(postgresql.trust_recent_use, dispatch_uid="health_checks")


def end_connections() -> int:
    """Let PostgreSQL end all connections to the test's database but this one, as at a restart; returns their number."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return len(cursor.fetchall())


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_request_after_its_connection_was_ended_opens_another(alice: User, method: str) -> None:
    headers = {"Authorization": f"Bearer {make_token(alice)}"}

    def ask(method: str) -> Any:
        body = {"name": "Ada"} if method == "POST" else None
        return requests.request(method, f"{server.base}/api/people", json=body, headers=headers, timeout=30)

    with serve_whole_service(threads=1) as server:
        for _ in range(3):
            assert ask("GET").status_code == 200
            assert end_connections() >= 1
            response = ask(method)
            assert response.status_code == (201 if method == "POST" else 200), response.text
        assert ask("GET").json()["pagination"]["total"] == (3 if method == "POST" else 0)


CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:ada\r\nN:;Ada;;;\r\nFN:Ada\r\nEND:VCARD\r\n"
LIST_TOOLS = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type"),
    [
        ("GET", "/api/people", "", ""),
        ("POST", "/api/people", '{"name": "Ada"}', "application/json"),
        ("POST", "/api/batch", '{"operations": [{"method": "GET", "path": "/api/groups"}]}', "application/json"),
        ("GET", "/api/changes/stream", "", ""),
        ("GET", "/api/health", "", ""),
        ("POST", "/mcp", LIST_TOOLS, "application/json"),
        ("PROPFIND", "/dav/", "", "text/xml"),
        ("PUT", "/dav/addressbooks/{user}/contacts/ada.vcf", CARD, "text/vcard"),
        ("GET", "/calendar/unknown.ics", "", ""),
    ],
)
def test_connection_that_ends_unseen_fails_one_request(
    alice: User, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: str, content_type: str
) -> None:
    """As if the server had ended it just after the look at it: 503, nothing is stored, and the next request works."""
    token = make_token(alice)
    headers = {"Content-Type": content_type, "Accept": "application/json, text/event-stream", "Depth": "0"}
    login = (alice.email, token) if "/dav/" in path else None
    headers |= {} if login else {"Authorization": f"Bearer {token}"}
    monkeypatch.setattr(postgresql, "_may_have_ended", lambda database: False)
    # On a busy machine the second is over before the request begins.
    monkeypatch.setattr(postgresql, "_TRUSTED_SECONDS", 3600.0)
    # Five minutes after the start of this process, the health check misses the scheduler, too.
    monkeypatch.setattr(health, "STARTED_AT", timezone.now())

    def ask() -> requests.Response:
        url = server.base + path.format(user=alice.pk)
        response = requests.request(method, url, data=body, headers=headers, auth=login, timeout=30, stream=True)
        response.close()
        return response

    with serve_whole_service(threads=1) as server:
        requests.get(f"{server.base}/api/groups", headers={"Authorization": f"Bearer {token}"}, timeout=30)
        assert end_connections() >= 1
        refused = ask()
        assert (refused.status_code, Person.unscoped.count()) == (503, 0), path
        assert int(refused.headers["Retry-After"]) > 0
        assert ask().status_code in {200, 201, 207, 404}
