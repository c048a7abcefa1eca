"""HEAD answers what GET would, without the body (RFC 9110, 9.3.2): every route and page, on our own server."""

from typing import Any

import pytest
import requests
from django.conf import settings as project
from django.utils import timezone

from notifications.models.deliveries import record_heartbeat
from tests.builders import UNKNOWN_ID, make_user
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.routes.route_data import RouteData, apply_route_settings, make_route_data
from tests.routes.table import ROUTES, Route

READING = [route for route in ROUTES if route.method == "GET"]
PAGES = [
    "/",
    "/people/{person}",
    "/account/sign-in",
    "/account/sign-in/code",
    "/account/verify-email?token=x",
    "/account/take-back?token=x",
    "/account/reset-password?token=x",
    "/admin/login/",
    "/metrics",
    "/mcp",
    "/nowhere",
    "/api/nowhere",
    f"/api/people/{UNKNOWN_ID}",
    "/api/people/search",  # without q: 400
    "/api/people/merge",  # of a POST alone: 405
]
# They differ between any two answers: a new token of the form, another instant.
_CHANGING = {"x-request-id", "date", "expires", "set-cookie"}


@pytest.fixture
def route_data(transactional_db: None, settings: Any, media: Any) -> RouteData:
    apply_route_settings(settings)
    made = make_route_data(make_user("alice@example.org", name="Alice"))
    record_heartbeat("due_scan", timezone.now())
    return made


def call(server: RunningServer, method: str, path: str, headers: dict[str, str]) -> requests.Response:
    return requests.request(method, f"{server.base}{path}", headers=headers, allow_redirects=False, timeout=20)


def headers_of(response: requests.Response) -> dict[str, str]:
    # Compressed, an instant in the body may be a byte longer than another.
    changing = _CHANGING | ({"content-length"} if "Content-Encoding" in response.headers else set())
    return {name.lower(): value for name, value in response.headers.items() if name.lower() not in changing}


def credential_of(route: Route, route_data: RouteData) -> dict[str, str]:
    if not route.session_only:
        return {"Authorization": f"Bearer {route_data.client.bearer}"}
    client = client_of(None)
    client.force_login(route_data.owner)
    return {"Cookie": f"{project.SESSION_COOKIE_NAME}={client.cookies[project.SESSION_COOKIE_NAME].value}"}


@pytest.mark.one_database
def test_head_answers_what_get_would(server: RunningServer, route_data: RouteData) -> None:
    token = {"Authorization": f"Bearer {route_data.client.bearer}"}
    calls = [(route.path, credential_of(route, route_data)) for route in READING if "stream" not in route.path]
    calls += [(path, token) for path in PAGES] + [(path, {}) for path in PAGES]
    feed = route_data.client.ok("POST", "/api/calendar-feeds", {"name": "All"}, status=201)["calendarFeed"]
    calls.append((feed["url"].removeprefix(project.BASE_URL), {}))
    for template, credential in calls:
        path = template.format_map(route_data.ids)
        for headers in (credential, {**credential, "Accept-Encoding": "identity"}):
            got, head = call(server, "GET", path, headers), call(server, "HEAD", path, headers)
            assert head.content == b""
            ignored = {"content-length"} if path == "/api/health" else set()  # it says how long ago something was
            expected, received = (
                {name: value for name, value in headers_of(response).items() if name not in ignored}
                for response in (got, head)
            )
            assert (head.status_code, received) == (got.status_code, expected), path
            if etag := got.headers.get("ETag"):
                known = {**headers, "If-None-Match": etag}
                assert (
                    call(server, "HEAD", path, known).status_code,
                    call(server, "GET", path, known).status_code,
                ) == (
                    304,
                    304,
                )


@pytest.mark.one_database
def test_head_of_a_stream_ends_at_its_headers(server: RunningServer, route_data: RouteData) -> None:
    credential = f"Authorization: Bearer {route_data.client.bearer}"
    request = f"HEAD /api/changes/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}\r\n\r\n"
    connection = server.connect(
        request.encode() + b"GET /api/auth/providers HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    received = connection.makefile("rb").read()
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-type: text/event-stream" in received
    # The connection is free for the next request at once.
    assert received.count(b"HTTP/1.1 200 OK") == 2
    assert b'"providers"' in received
