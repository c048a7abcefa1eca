"""The scan for due calendars, a killed reading, what a reading costs, and what the doctor says."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from meetings import tasks
from meetings.calendars.occurrences import hash_key
from meetings.checks import check_sources
from meetings.models import AnswerKind, CalendarSource, MeetingAnswer
from meetings.services.reading import read_source
from tests.builders import make_user
from tests.client import Client
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, make_source, read

PAST = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def add_source(owner: User, **fields: Any) -> CalendarSource:
    values = {"name": "x", "kind": "ics", "url": "http://127.0.0.1/a.ics", "next_read_at": PAST, **fields}
    return CalendarSource.objects.create(owner=owner, **values)


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    keys: list[UUID] = []
    monkeypatch.setattr(tasks.read_calendar, "delay", lambda text: keys.append(UUID(text)))
    return keys


@pytest.mark.django_db
def test_accounts_take_turns(alice: User, enqueued: list[UUID]) -> None:
    bob = make_user("bob@example.org")
    many = [add_source(alice, next_read_at=PAST + dt.timedelta(minutes=number)) for number in range(3)]
    one = add_source(bob, next_read_at=PAST + dt.timedelta(hours=1))
    tasks.sweep()
    assert enqueued == [many[0].pk, one.pk, many[1].pk, many[2].pk]


@pytest.mark.django_db
def test_the_scan_leaves_out_what_is_not_due(alice: User, enqueued: list[UUID]) -> None:
    now = timezone.now()
    add_source(alice, next_read_at=now + dt.timedelta(hours=1))
    add_source(alice, next_read_at=None, url="")
    add_source(alice, claim=new_id(), held_until=now + dt.timedelta(minutes=5), holder="elsewhere")
    add_source(make_user("off@example.org", is_active=False))
    due = add_source(alice)
    tasks.sweep()
    tasks.sweep()  # its message is in the queue already
    assert enqueued == [due.pk]


@pytest.mark.django_db
def test_a_reading_that_was_killed_is_done_again(api: Client, calendar: CalendarServer) -> None:
    made = make_source(api, calendar.url)
    now = timezone.now()
    rows = CalendarSource.unscoped.rows().filter(pk=made["id"])
    rows.update(claim=new_id(), held_until=now + dt.timedelta(minutes=1), holder="elsewhere")
    shown = api.ok("get", f"/api/calendar-sources/{made['id']}")["calendarSource"]
    assert shown["state"] == "reading"
    assert not read_source(UUID(made["id"]), now=now)
    later = now + dt.timedelta(minutes=2)
    assert read_source(UUID(made["id"]), now=later)
    assert rows.get().state == "ok"


@pytest.mark.django_db
def test_a_reading_that_fails_here_is_not_repeated_at_once(
    api: Client, calendar: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_source(api, calendar.url)
    monkeypatch.setattr("meetings.services.reading.propose", lambda *arguments: 1 / 0)
    row = read(made)
    assert (row.state, row.last_error_code) == ("failing", "interrupted")
    assert row.next_read_at is not None
    assert row.next_read_at > timezone.now()


@pytest.mark.django_db
def test_a_reading_costs_what_the_file_does_not_what_was_answered(
    api: Client, alice: User, calendar: CalendarServer
) -> None:
    known_person(alice, "Ada", email="ada@example.org")
    start = timezone.now() - dt.timedelta(hours=3)
    calendar.serve(event("a", utc(start), attendee("ada@example.org"), summary="Lunch"))
    made = make_source(api, calendar.url)
    read(made)

    def cost() -> int:
        CalendarSource.unscoped.rows().filter(pk=made["id"]).update(fresh_until=None)
        with CaptureQueriesContext(connection) as queries:
            read(made)
        return len(queries)

    before = cost()
    MeetingAnswer.objects.bulk_create(
        MeetingAnswer(owner=alice, kind=AnswerKind.DISMISSED, key=hash_key("x", str(number))) for number in range(500)
    )
    assert cost() == before


@pytest.mark.django_db
def test_the_doctor_counts_what_fails(alice: User) -> None:
    assert check_sources(None) == []
    for code in ("auth", "dns", "dns"):
        add_source(alice, state="failing", last_error_code=code)
    [warning] = check_sources(None)
    assert (warning.id, warning.msg) == ("doctor.W056", "Calendars cannot be read: dns 2, auth 1.")


@pytest.mark.django_db
def test_a_source_is_enqueued_once_it_is_made_changed_or_asked_for(
    api: Client, calendar: CalendarServer, enqueued: list[UUID], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        made = make_source(api, calendar.url)
    assert enqueued == [UUID(made["id"])]
    tasks.read_calendar(made["id"])
    path = f"/api/calendar-sources/{made['id']}"
    assert api.ok("get", path)["calendarSource"]["state"] == "ok"
    with django_capture_on_commit_callbacks(execute=True):
        api.ok("put", path, {"name": "Other"})
    assert len(enqueued) == 1
    with django_capture_on_commit_callbacks(execute=True):
        api.ok("put", path, {"url": f"{calendar.recorder.url}/other.ics"})
    assert len(enqueued) == 2
    tasks.read_calendar(made["id"])
    with django_capture_on_commit_callbacks(execute=True):
        assert api.call("post", f"{path}/read").status_code == 202
    assert len(enqueued) == 3
