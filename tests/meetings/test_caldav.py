"""The calendars of real CalDAV servers: found, chosen, read, and read again only when something has changed."""

import datetime as dt
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from tests.carddav.servers import PASSWORD, DavServer, radicale, xandikos
from tests.client import Client
from tests.loopback import Reply, recording_server
from tests.meetings.calendars import attendee, event, ics, utc
from tests.meetings.conftest import known_person, make_source, proposals, read

_MAKE_CALENDAR = (
    '<?xml version="1.0" encoding="utf-8"?><C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set>'
    "<prop><displayname>{name}</displayname></prop></set></C:mkcalendar>"
)


@pytest.fixture(scope="module", params=["radicale", "xandikos"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavServer]:
    start = {"radicale": radicale, "xandikos": xandikos}[request.param]
    with start(tmp_path_factory.mktemp(request.param)) as running:
        yield running


def make_calendar(server: DavServer, user: str, name: str) -> str:
    home = server.homes.format(user=user)
    if server.name == "xandikos":
        home = home.replace("contacts", "calendars")
    path = f"{home}{uuid4().hex}/"
    status, body = server.call("MKCALENDAR", path, user, _MAKE_CALENDAR.format(name=name))
    assert status == 201, (status, body)
    return path


def put_event(server: DavServer, user: str, calendar: str, name: str, text: str) -> None:
    status, body = server.call("PUT", f"{calendar}{name}.ics", user, ics(text).decode(), "text/calendar; charset=utf-8")
    assert status in {200, 201, 204}, (status, body)


def lunch(uid: str, hours: float) -> str:
    start = timezone.now() - dt.timedelta(hours=hours)
    return event(uid, utc(start), attendee("ada@example.org"), summary=uid, end=utc(start + dt.timedelta(hours=1)))


@pytest.mark.django_db
def test_calendars_are_found_chosen_and_read(api: Client, alice: User, server: DavServer) -> None:
    known_person(alice, "Ada", email="ada@example.org")
    user = "user"
    work, private = make_calendar(server, user, "Work"), make_calendar(server, user, "Private")
    put_event(server, user, work, "a", lunch("Lunch", 3))
    put_event(server, user, private, "b", lunch("Secret", 5))
    login = {"kind": "caldav", "url": server.url, "username": user, "password": PASSWORD}
    tested = api.ok("post", "/api/calendar-sources/test", {"name": "x", **login})
    hrefs = {entry["href"].rstrip("/") for entry in tested["calendars"]}
    assert {work.rstrip("/"), private.rstrip("/")} <= hrefs
    made = make_source(api, calendars=[work], **login)
    row = read(made)
    assert (row.state, row.last_error_code) == ("ok", "")
    shown = api.ok("get", f"/api/calendar-sources/{made['id']}")["calendarSource"]
    chosen = {entry["href"].rstrip("/"): (entry["name"], entry["chosen"]) for entry in shown["calendars"]}
    assert chosen[work.rstrip("/")] == ("Work", True)
    assert chosen[private.rstrip("/")] == ("Private", False)
    assert [found["title"] for found in proposals(api)] == ["Lunch"]
    put_event(server, user, work, "c", lunch("Dinner", 2))
    read(made)
    assert [found["title"] for found in proposals(api)] == ["Dinner", "Lunch"]
    status, _ = server.call("DELETE", f"{work}a.ics", user)
    assert status in {200, 204}
    read(made)
    assert [found["title"] for found in proposals(api)] == ["Dinner"]
    status, _ = server.call("DELETE", work, user)
    assert status in {200, 204}
    assert read(made).last_error_code == "not_calendar"
    assert len(proposals(api)) == 1


@pytest.mark.django_db
def test_an_unchanged_calendar_is_not_read_again(
    api: Client, alice: User, server: DavServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from meetings.client import caldav

    known_person(alice, "Ada", email="ada@example.org")
    path = make_calendar(server, "user", "Work")
    put_event(server, "user", path, "a", lunch("Lunch", 3))
    login = {"kind": "caldav", "username": "user", "password": PASSWORD}
    made = make_source(api, f"{server.url.rstrip('/')}{path}", **login)
    read(made)
    queries: list[Any] = []
    query = caldav.Calendar._query

    def count(*arguments: Any) -> Any:
        queries.append(arguments)
        return query(*arguments)

    monkeypatch.setattr(caldav.Calendar, "_query", count)
    assert read(made).state == "ok"
    assert queries == []
    assert len(proposals(api)) == 1
    put_event(server, "user", path, "b", lunch("Dinner", 2))
    read(made)
    assert len(queries) == 1
    assert len(proposals(api)) == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("status", "code"), [(401, "auth"), (404, "http_4xx"), (500, "http_5xx"), (200, "http_4xx")])
def test_what_servers_refuse(api: Client, status: int, code: str) -> None:
    with recording_server() as recorder:
        recorder.reply = Reply(status, {"WWW-Authenticate": 'Basic realm="x"'} if status == 401 else {})
        made = make_source(api, f"{recorder.url}/dav/", kind="caldav", username="u", password="p")
        found = read(made).last_error_code
        assert found == (code if status != 200 else "not_calendar")
