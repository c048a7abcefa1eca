"""Calendar sources: made, shown, changed, removed, read, tested; what servers answer."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from meetings.models import CalendarSource, MeetingProposal
from meetings.services import reading
from meetings.services.reading import read_source
from meetings.services.sources import shown_url
from tests.client import Client
from tests.loopback import Received, Reply, closed_port, recording_server
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, make_source, proposals, read

PATH = "/api/calendar-sources"


def recent(hours: float) -> str:
    return utc(timezone.now() - dt.timedelta(hours=hours))


def lunch(uid: str = "lunch", hours: float = 3, *lines: str) -> str:
    return event(uid, recent(hours), attendee("ada@example.org"), *lines, summary="Lunch", end=recent(hours - 1))


@pytest.fixture
def ada(alice: User) -> Any:
    return known_person(alice, "Ada", email="ada@example.org")


@pytest.mark.django_db
def test_a_source_is_made_shown_and_read(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    assert made["url"] == f"{calendar.recorder.url}/private/secret-part/"
    assert "hidden" not in str(made)
    assert (made["state"], made["proposals"], made["lastReadAt"], made["lastError"]) == ("new", 0, None, None)
    assert made["nextReadAt"]
    read(made)
    shown = api.ok("get", f"{PATH}/{made['id']}")["calendarSource"]
    assert (shown["state"], shown["proposals"], shown["lastError"]) == ("ok", 1, None)
    assert shown["lastReadAt"] < shown["nextReadAt"]
    [row] = api.ok("get", PATH)["calendarSources"]
    assert row == shown
    assert [proposal["people"][0]["by"] for proposal in proposals(api)] == ["email"]


@pytest.mark.django_db
def test_the_address_and_the_password_are_encrypted(api: Client, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url, username="ada", password="very secret")
    rows = CalendarSource.unscoped.rows().filter(pk=made["id"]).extra(select={"raw": "url", "key": "password"})
    raw = rows.values("raw", "key").get()
    assert "hidden" not in raw["raw"]
    assert "secret" not in raw["key"]
    assert "very secret" not in str(made)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://cloud.example.org/public/token?export", "https://cloud.example.org/public/"),
        ("webcal://p1-caldav.icloud.com/published/2/token", "webcal://p1-caldav.icloud.com/published/2/"),
        (
            "https://calendar.google.com/calendar/ical/ada%40example.org/private-0123/basic.ics",
            "https://calendar.google.com/calendar/ical/ada%40example.org/private-0123/",
        ),
        (
            "https://outlook.office365.com/owa/calendar/12@example.org/34/calendar.ics",
            "https://outlook.office365.com/owa/calendar/12@example.org/34/",
        ),
        ("https://cloud.example.org/?token#part", "https://cloud.example.org/"),
        ("https://cloud.example.org?token", "https://cloud.example.org"),
    ],
)
def test_an_address_is_shown_without_its_last_part_and_query(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.django_db
def test_what_was_read_can_be_put_back(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url, password="secret")
    read(made)
    shown = api.ok("get", f"{PATH}/{made['id']}")["calendarSource"]
    changed = api.ok("put", f"{PATH}/{made['id']}", {**shown, "name": "Home", "kind": "caldav"})["calendarSource"]
    assert (changed["name"], changed["kind"], changed["url"]) == ("Home", "ics", shown["url"])
    assert CalendarSource.unscoped.rows().get(pk=made["id"]).url == calendar.url
    assert [row["sourceName"] for row in proposals(api)] == ["Home"]


@pytest.mark.django_db
def test_another_server_needs_the_password_again(api: Client, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url, username="ada", password="secret")
    path, other = f"{PATH}/{made['id']}", f"http://127.0.0.1:{closed_port()}/other.ics"
    refused = api.call("put", path, {"url": other})
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "password")
    same = f"{calendar.recorder.url}/another.ics"
    api.ok("put", path, {"url": same})
    assert CalendarSource.unscoped.rows().get(pk=made["id"]).password == "secret"
    api.ok("put", path, {"url": other, "password": "new"})
    row = CalendarSource.unscoped.rows().get(pk=made["id"])
    assert (row.password, row.url, row.state) == ("new", other, "new")


@pytest.mark.django_db
def test_a_removed_source_takes_its_open_proposals_along(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(lunch("a"), lunch("b", 30))
    made = make_source(api, calendar.url)
    read(made)
    first, _ = proposals(api)
    accepted = api.ok("post", "/api/meeting-proposals/accept", {"ids": [first["id"]]})
    api.ok("delete", f"{PATH}/{made['id']}")
    assert proposals(api) == []
    assert api.ok("get", f"/api/interactions/{accepted['interactions'][0]['id']}")
    assert api.call("get", f"{PATH}/{made['id']}").status_code == 404


@pytest.mark.django_db
def test_ten_sources_an_account(api: Client, calendar: CalendarServer) -> None:
    for _ in range(10):
        make_source(api, calendar.url)
    refused = api.call("post", PATH, {"name": "x", "kind": "ics", "url": calendar.url})
    assert (refused.status_code, refused.json()["code"]) == (409, "calendar_source_limit")


@pytest.mark.django_db
def test_reading_now_once_a_minute(api: Client, calendar: CalendarServer) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        made = make_source(api, calendar.url)
        read(made)  # by itself: it does not count
        path = f"{PATH}/{made['id']}/read"
        assert api.call("post", path).status_code == 202
        refused = api.call("post", path)
        assert refused.status_code == 429
        assert 0 < refused.json()["retryAfter"] <= 60
        clock.shift(61)
        assert api.call("post", path).status_code == 202


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["http://10.0.0.1/a.ics", "http://169.254.169.254/a.ics", "webcal://192.168.0.1/a.ics"])
def test_what_the_policy_refuses(api: Client, calendar: CalendarServer, url: str) -> None:
    refused = api.call("post", PATH, {"name": "x", "kind": "ics", "url": url})
    assert (refused.status_code, refused.json()["code"]) == (400, "policy")
    made = make_source(api, calendar.url)
    refused = api.call("put", f"{PATH}/{made['id']}", {"url": url})
    assert (refused.status_code, refused.json()["code"]) == (400, "policy")
    tested = api.call("post", f"{PATH}/test", {"name": "x", "kind": "ics", "url": url})
    assert (tested.status_code, tested.json()["code"], tested.json()["success"]) == (400, "policy", False)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "not a url"}, "url"),
        ({"url": "ftp://example.org/a.ics"}, "url"),
        ({"kind": "exchange"}, "kind"),
        ({"daysBack": 366}, "daysBack"),
        ({"daysBack": -1}, "daysBack"),
        ({"daysBack": "5"}, "daysBack"),
        ({"calendars": "x"}, "calendars"),
        ({"name": ""}, "name"),
    ],
)
def test_bodies_that_are_refused(api: Client, calendar: CalendarServer, body: dict[str, Any], field: str) -> None:
    refused = api.call("post", PATH, {"name": "x", "kind": "ics", "url": calendar.url, **body})
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, field)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "code"), [(401, "auth"), (403, "http_4xx"), (404, "http_4xx"), (500, "http_5xx"), (302, "redirect")]
)
def test_a_failing_source_says_why_and_backs_off_to_a_day(
    api: Client, ada: Any, calendar: CalendarServer, status: int, code: str
) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    now = timezone.now()
    read(made, now=now)
    calendar.status = status
    delays = []
    for _ in range(7):
        row = read(made, now=now)
        assert row.next_read_at is not None
        delays.append((row.next_read_at - now) / dt.timedelta(hours=1))
    assert delays == [1, 2, 4, 8, 16, 24, 24]
    shown = api.ok("get", f"{PATH}/{made['id']}")["calendarSource"]
    assert (shown["state"], shown["lastError"]["code"], shown["proposals"]) == ("failing", code, 1)
    calendar.status = 200
    assert (read(made).state, read(made).failures) == ("ok", 0)


@pytest.mark.django_db
def test_nobody_listens(api: Client) -> None:
    made = make_source(api, f"http://127.0.0.1:{closed_port()}/a.ics")
    assert read(made).last_error_code == "refused"


@pytest.mark.django_db
@pytest.mark.parametrize("data", [b"<html>Sign in</html>", b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"])
def test_what_is_no_calendar_changes_nothing(api: Client, ada: Any, calendar: CalendarServer, data: bytes) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    read(made)
    calendar.data = data
    assert read(made).last_error_code == "not_calendar"
    assert len(proposals(api)) == 1


@pytest.mark.django_db
def test_more_than_ten_mebibytes_are_refused_whole(api: Client, ada: Any, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url)
    calendar.serve(lunch(), event("big", "20200101", "DESCRIPTION:" + "x" * 11_000_000))
    assert read(made).last_error_code == "too_large"
    assert proposals(api) == []


@pytest.mark.django_db
def test_a_broken_event_is_counted(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(lunch(), "UID:broken")
    made = make_source(api, calendar.url)
    read(made)
    assert api.ok("get", f"{PATH}/{made['id']}")["calendarSource"]["brokenEvents"] == 1
    assert len(proposals(api)) == 1


@pytest.mark.django_db
def test_five_redirects_and_a_login_that_stays_with_its_origin(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(lunch())
    hops = {"left": 4}

    def answer(request: Received) -> Reply:
        hops["left"] -= 1
        target = "/again" if hops["left"] >= 0 else calendar.url
        return Reply(302, {"Location": target})

    with recording_server() as first:
        first.reply = answer
        made = make_source(api, f"{first.url}/start", username="ada", password="secret")
        assert read(made).state == "ok"
        assert all("authorization" in request.headers for request in first.received)
        assert all("authorization" not in request.headers for request in calendar.recorder.received)
        hops["left"] = 5
        assert read(made).last_error_code == "redirect"


@pytest.mark.django_db
def test_a_redirect_to_a_refused_address(api: Client) -> None:
    with recording_server() as server:
        server.reply = Reply(302, {"Location": "http://10.0.0.1/a.ics"})
        made = make_source(api, f"{server.url}/a.ics")
        assert read(made).last_error_code == "policy"


@pytest.mark.django_db
@pytest.mark.parametrize("target", ["/" + "a" * 60_000, "http://127.0.0.1:99999/"])
def test_a_redirect_to_no_address(api: Client, target: str) -> None:
    with recording_server() as server:
        server.reply = Reply(302, {"Location": target})
        source = {"name": "x", "kind": "ics", "url": f"{server.url}/a.ics", "username": "ada", "password": "secret"}
        answer = api.call("post", f"{PATH}/test", source)
        assert (answer.status_code, answer.json()["code"]) == (502, "redirect")


@pytest.mark.django_db
def test_reading_again_with_nothing_new_writes_nothing(
    api: Client, alice: User, ada: Any, calendar: CalendarServer
) -> None:
    calendar.serve(lunch(), event("later", utc(timezone.now() + dt.timedelta(days=1)), summary="Later"))
    made = make_source(api, calendar.url)
    read(made)
    alice.refresh_from_db()
    revision = alice.revision
    read(made)
    assert [request.headers.get("if-none-match") for request in calendar.recorder.received][1] is not None
    read(made, now=timezone.now() + dt.timedelta(days=2))  # an event has ended since: the file is read whole
    assert calendar.recorder.received[-1].headers.get("if-none-match") is None
    alice.refresh_from_db()
    assert alice.revision == revision


@pytest.mark.django_db
def test_an_unchanged_file_proposes_more_once_somebody_in_it_is_a_person(
    api: Client, alice: User, calendar: CalendarServer
) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    read(made)
    assert proposals(api) == []
    api.ok("post", "/api/people", {"name": "Ada", "emails": [{"email": "ADA@example.org"}]}, status=201)
    read(made)
    assert len(proposals(api)) == 1


@pytest.mark.django_db
def test_the_test_of_a_calendar(api: Client, calendar: CalendarServer) -> None:
    body = {"name": "x", "kind": "ics", "url": calendar.url}
    assert api.ok("post", f"{PATH}/test", body) == {"success": True, "calendars": []}
    calendar.data = b"<html></html>"
    failed = api.call("post", f"{PATH}/test", body)
    assert (failed.status_code, failed.json()["code"]) == (404, "not_calendar")
    calendar.status = 401
    failed = api.call("post", f"{PATH}/test", body)
    assert (failed.status_code, failed.json()["code"], failed.json()["success"]) == (401, "auth", False)
    assert "WWW-Authenticate" not in failed.headers
    assert not CalendarSource.unscoped.rows().exists()


@pytest.mark.django_db
def test_a_reading_stores_nothing_once_the_address_has_changed(
    api: Client, alice: User, ada: Any, calendar: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calendar.serve(lunch())
    made = make_source(api, calendar.url)
    download = reading.download  # type: ignore[attr-defined]  # imported there

    def download_and_change(*arguments: Any) -> Any:
        found = download(*arguments)
        api.ok("put", f"{PATH}/{made['id']}", {"url": f"{calendar.recorder.url}/other.ics"})
        return found

    monkeypatch.setattr(reading, "download", download_and_change)
    read_source(UUID(made["id"]), now=timezone.now())
    assert not MeetingProposal.unscoped.rows().exists()
    row = CalendarSource.unscoped.rows().get(pk=made["id"])
    assert (row.state, row.last_read_at) == ("new", None)


@pytest.mark.django_db
def test_a_source_is_read_by_one_worker_at_a_time_and_only_when_due(api: Client, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url)
    now = timezone.now()
    assert read_source(UUID(made["id"]), now=now)
    assert not read_source(UUID(made["id"]), now=now)
    assert len(calendar.recorder.received) == 1


@pytest.mark.django_db
def test_a_strangers_source(api: Client, stranger: Client, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url)
    for method, path, body in (
        ("get", "", None),
        ("put", "", {"name": "x"}),
        ("delete", "", None),
        ("post", "/read", None),
    ):
        assert stranger.call(method, f"{PATH}/{made['id']}{path}", body).status_code == 404
    assert stranger.ok("get", PATH)["calendarSources"] == []


@pytest.mark.django_db
def test_who_became_a_person_while_a_calendar_was_read_is_found_by_the_next_reading(
    api: Client, ada: Any, calendar: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calendar.serve(lunch(), event("b", recent(5), attendee("ben@example.org"), summary="Tea", end=recent(4)))
    made = make_source(api, calendar.url)
    propose = reading.propose  # type: ignore[attr-defined]  # imported there

    def propose_and_add(*arguments: Any) -> Any:
        found = propose(*arguments)
        api.ok("post", "/api/people", {"name": "Ben", "emails": [{"email": "ben@example.org"}]}, status=201)
        return found

    monkeypatch.setattr(reading, "propose", propose_and_add)
    read(made)
    assert [row["title"] for row in proposals(api)] == ["Lunch"]
    monkeypatch.setattr(reading, "propose", propose)
    read(made)
    assert [row["title"] for row in proposals(api)] == ["Lunch", "Tea"]
