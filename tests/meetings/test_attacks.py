"""What must not happen: secrets that leave, logins that go elsewhere, two answers or two readings at a time."""

import datetime as dt
import logging
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from meetings.checks import check_sources
from meetings.models import CalendarSource, MeetingAnswer, MeetingProposal, ProposedPerson
from meetings.services import reading
from meetings.services.reading import read_source
from people.models import Interaction
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.loopback import Reply, recording_server
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, make_source, proposals, read

SOURCES, PROPOSALS = "/api/calendar-sources", "/api/meeting-proposals"
SECRETS = ("hidden-token", "basic-token", "very-secret", "guarded-notes")


def lunch(uid: str = "lunch", hours: float = 3, *lines: str, summary: str = "Lunch") -> str:
    start = timezone.now() - dt.timedelta(hours=hours)
    end = utc(start + dt.timedelta(hours=1))
    return event(uid, utc(start), attendee("ada@example.org"), *lines, summary=summary, end=end)


def secret_url(calendar: CalendarServer) -> str:
    return f"{calendar.recorder.url}/folder/basic-token.ics?key=hidden-token"


@pytest.fixture
def ada(alice: User) -> Any:
    return known_person(alice, "Ada", email="ada@example.org")


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["ics", "caldav"])
@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {}),
        (401, {"WWW-Authenticate": 'Basic realm="x"'}),
        (404, {}),
        (500, {}),
        (302, {"Location": "http://10.0.0.1/basic-token.ics?key=hidden-token"}),
        (302, {"Location": "http://[hidden-token/"}),
    ],
)
def test_secrets_are_in_no_answer_and_no_log(
    api: Client,
    alice: User,
    ada: Any,
    calendar: CalendarServer,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    status: int,
    headers: dict[str, str],
) -> None:
    caplog.set_level(logging.DEBUG)
    calendar.serve(lunch("lunch", 3, "DESCRIPTION:guarded-notes", "COMMENT:guarded-notes"))
    calendar.status, calendar.headers = status, headers
    login = {"username": "ada", "password": "very-secret"}
    body = {"name": "x", "kind": kind, "url": secret_url(calendar), **login}
    answers = [api.call("post", f"{SOURCES}/test", body).content.decode()]
    made = make_source(api, secret_url(calendar), kind=kind, **login)
    row = read(made)
    assert (row.state == "ok") == (status == 200 and kind == "ics")
    one = f"{SOURCES}/{made['id']}"
    answers += [api.call("put", one, {"url": "http://10.0.0.1/hidden-token"}).content.decode()]
    for path in (one, SOURCES, PROPOSALS, "/api/changes", "/api/user/export"):
        answers.append(str(api.ok("get", path)))
    answers += [str(check_sources(None)), str(row), str(row.last_error), caplog.text]
    assert [word for word in SECRETS for answer in answers if word in answer] == []
    stored = MeetingProposal.unscoped.rows().values_list("title", "location", "unknown")
    assert "guarded-notes" not in str(list(stored))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url", ["http://localhost:{port}/a.ics", "https://127.0.0.1:{port}/a.ics", "http://127.0.0.1:1/a.ics"]
)
def test_a_password_goes_to_no_other_origin(api: Client, calendar: CalendarServer, url: str) -> None:
    made = make_source(api, calendar.url, username="ada", password="very-secret")
    refused = api.call("put", f"{SOURCES}/{made['id']}", {"url": url.format(port=calendar.recorder.port)})
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "password")
    assert CalendarSource.unscoped.rows().get(pk=made["id"]).url == calendar.url


@pytest.mark.django_db
@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[fd00::1]/"])
def test_a_caldav_server_leads_to_no_private_address(api: Client, target: str) -> None:
    """By a redirect, or as a home."""
    home = (
        '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/</href><propstat><prop>'
        f"<C:calendar-home-set><href>{target.replace('http:', 'https:')}</href></C:calendar-home-set></prop>"
        "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    )
    with recording_server() as server:
        made = make_source(api, f"{server.url}/", kind="caldav", username="ada", password="very-secret")
        for reply in (Reply(302, {"Location": target}), Reply(207, {"Content-Type": "text/xml"}, home.encode())):
            server.reply = reply
            assert read(made).last_error_code == "policy"


@pytest.mark.django_db
def test_what_is_dismissed_for_ever_was_answered(api: Client, ada: Any, calendar: CalendarServer) -> None:
    """Also those of the series that were not named: whoever accepts one in another window learns that."""
    start = timezone.now() - dt.timedelta(days=20, hours=2)
    series = event("w", utc(start), "RRULE:FREQ=WEEKLY", attendee("ada@example.org"), summary="Weekly")
    calendar.serve(series, lunch())
    read(make_source(api, calendar.url))
    weekly = [row["id"] for row in proposals(api) if row["title"] == "Weekly"]
    [other] = [row["id"] for row in proposals(api) if row["title"] == "Lunch"]
    assert api.ok("post", f"{PROPOSALS}/dismiss", {"ids": weekly[:1], "always": "series"}) == {"dismissed": 1}
    answer = api.ok("post", f"{PROPOSALS}/accept", {"ids": [*weekly, other]})
    assert answer["accepted"] == 1
    assert [(row["proposalId"], row["interactionId"]) for row in answer["errors"]] == [(key, None) for key in weekly]


@pytest.mark.django_db
def test_a_reading_that_is_killed_after_its_write_repeats_nothing(
    api: Client, alice: User, ada: Any, calendar: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """As a kill of the process."""

    def kill(*arguments: Any) -> Any:
        raise Killed

    calendar.serve(lunch("a"), lunch("b", 5))
    made = make_source(api, calendar.url)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "_fresh_until", kill)
        with pytest.raises(Killed):
            read(made)
    before = proposals(api)
    assert len(before) == 2
    api.ok("post", f"{PROPOSALS}/accept", {"ids": [before[0]["id"]]})
    alice.refresh_from_db()
    revision = alice.revision
    later = timezone.now() + reading.LEASE + dt.timedelta(seconds=1)
    assert read_source(UUID(made["id"]), now=later)
    alice.refresh_from_db()
    assert (proposals(api), alice.revision) == (before[1:], revision)


@pytest.mark.django_db(transaction=True)
def test_four_readings_at_once_are_one(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(*(lunch(str(number), number + 2) for number in range(20)))
    made = make_source(api, calendar.url)
    now = timezone.now()
    done = run_concurrently(*(lambda: read_source(UUID(made["id"]), now=now) for _ in range(4)))
    assert sorted(done) == [False, False, False, True]
    assert len(calendar.recorder.received) == 1
    assert len(proposals(api)) == 20


@pytest.mark.django_db(transaction=True)
def test_two_calendars_with_the_same_events_read_at_once(api: Client, ada: Any, calendar: CalendarServer) -> None:
    calendar.serve(*(lunch(str(number), number + 2) for number in range(20)))
    made = [make_source(api, calendar.url, name=name) for name in ("One", "Two")]
    now = timezone.now()
    run_concurrently(*(lambda row=row: read_source(UUID(row["id"]), now=now) for row in made))
    rows = CalendarSource.unscoped.rows()
    assert set(rows.values_list("state", "last_error_code")) == {("ok", "")}
    assert len(proposals(api)) == 20
    assert ProposedPerson.unscoped.rows().count() == 20


@pytest.mark.django_db(transaction=True)
def test_answers_while_the_calendar_is_read_and_removed(
    api: Client, alice: User, ada: Any, calendar: CalendarServer
) -> None:
    calendar.serve(*(lunch(str(number), number + 2) for number in range(12)))
    made, kept = (make_source(api, calendar.url, name=name) for name in ("Removed", "Kept"))
    read(made)
    ids = [row["id"] for row in proposals(api)]
    now = timezone.now() + dt.timedelta(hours=2)

    def answer(action: str, some: list[str]) -> int:
        client = client_of(alice)
        return sum(client.call("post", f"{PROPOSALS}/{action}", {"ids": [key]}).status_code == 200 for key in some)

    def read_both() -> int:
        return sum(read_source(UUID(row["id"]), now=now) for row in (made, kept))

    def remove() -> int:
        return int(client_of(alice).call("delete", f"{SOURCES}/{made['id']}").status_code == 200)

    calls = [lambda: answer("accept", ids[:8]), lambda: answer("dismiss", ids[4:]), read_both, remove]
    run_concurrently(*calls)
    read(kept, now=now + dt.timedelta(hours=2))
    answered = MeetingAnswer.unscoped.rows()
    logged = answered.filter(kind="accepted")
    assert logged.count() == Interaction.unscoped.rows().count()
    assert len({row.key for row in answered}) + len(proposals(api)) == answered.count() + len(proposals(api)) == 12
    assert not MeetingProposal.unscoped.rows().filter(key__in=answered.values("key")).exists()
