"""Fixtures: a server of one calendar's file on loopback, and a source that is read from it."""

import datetime as dt
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from meetings.models import CalendarSource
from meetings.services.reading import read_source
from people.models import Person
from tests.builders import make_keys, make_person
from tests.client import Client
from tests.loopback import Received, Recorder, Reply, allow_loopback, recording_server
from tests.meetings.calendars import ics


@pytest.fixture(autouse=True)
def _allow_loopback(settings: Any) -> None:
    allow_loopback(settings)


class CalendarServer:
    """Serves one file, with an ETag that follows its content, or `status`."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.data = ics()
        self.status = 200
        self.headers: dict[str, str] = {}
        recorder.reply = self.answer

    @property
    def url(self) -> str:
        return f"{self.recorder.url}/private/secret-part/basic.ics?key=hidden"

    def serve(self, *events: str, head: str = "") -> None:
        self.data = ics(*events, head=head)

    def answer(self, request: Received) -> Reply:
        etag = f'"{hash(self.data)}"'
        if self.status != 200:
            return Reply(self.status, self.headers)
        if request.headers.get("if-none-match") == etag:
            return Reply(304)
        return Reply(200, {"ETag": etag, "Content-Type": "text/calendar"}, self.data)


@pytest.fixture
def calendar() -> Iterator[CalendarServer]:
    with recording_server() as recorder:
        yield CalendarServer(recorder)


def known_person(owner: User, name: str, surname: str = "", *, email: str = "", **fields: Any) -> Person:
    """A person with look-up keys."""
    emails = [{"id": str(new_id()), "type": None, "email": email}] if email else []
    person = make_person(owner, name=name, surname=surname or None, emails=emails, **fields)
    make_keys(owner, [person])
    return person


def make_source(api: Client, url: str, **fields: Any) -> dict[str, Any]:
    """Create a source through the API; it is not read yet."""
    body = {"name": "Work", "kind": "ics", "url": url, **fields}
    found: dict[str, Any] = api.ok("post", "/api/calendar-sources", body, status=201)["calendarSource"]
    return found


def read(source: dict[str, Any], owner: User | None = None, *, now: dt.datetime | None = None) -> CalendarSource:
    """Read the source as the task does, whether it is due or not."""
    now = now or timezone.now()
    CalendarSource.unscoped.rows().filter(pk=source["id"]).update(next_read_at=now)
    assert read_source(UUID(source["id"]), now=now)
    row: CalendarSource = CalendarSource.unscoped.rows().get(pk=source["id"])
    return row


def proposals(api: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("get", "/api/meeting-proposals")["proposals"]
    return found
