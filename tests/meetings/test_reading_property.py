"""Any history of changes of a calendar, readings and answers: what is open is what nobody has answered, once."""

import datetime as dt
import itertools
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from meetings.models import MeetingAnswer
from people.models import Interaction
from tests.builders import make_user
from tests.client import client_of
from tests.meetings.calendars import attendee, event, utc
from tests.meetings.conftest import CalendarServer, known_person, make_source, proposals, read
from tests.rounds import rounds_per_database

PATH = "/api/meeting-proposals"
_accounts = itertools.count()
WEEKS = (2, 1, 0)  # ago, of the occurrences of a series; an event alone is of the last week


@dataclass
class Meeting:
    """An event of the calendar as it is now."""

    hour: int = 10
    title: str = "Lunch"
    is_series: bool = False
    is_cancelled: bool = False
    is_there: bool = True


@dataclass
class History:
    """The calendar, and what was answered: weeks of events, whole series, titles."""

    meetings: list[Meeting] = field(default_factory=lambda: [Meeting() for _ in range(3)])
    answered: set[tuple[int, int]] = field(default_factory=set)
    never: set[int] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    accepted: int = 0

    def expected(self) -> set[tuple[int, int]]:
        return {
            (number, week)
            for number, meeting in enumerate(self.meetings)
            for week in (WEEKS if meeting.is_series else WEEKS[-1:])
            if meeting.is_there and not meeting.is_cancelled
            if number not in self.never and meeting.title not in self.titles and (number, week) not in self.answered
        }


CHANGES: st.SearchStrategy[tuple[str, Any]] = st.one_of(
    st.tuples(st.just("hour"), st.integers(8, 13)),
    st.tuples(st.just("title"), st.sampled_from(["Lunch", "Tea", "Walk"])),
    st.tuples(st.just("is_series"), st.booleans()),
    st.tuples(st.just("is_cancelled"), st.booleans()),
    st.tuples(st.just("is_there"), st.booleans()),
)
STEPS = st.one_of(
    st.tuples(st.just("change"), st.integers(0, 2), CHANGES),
    st.tuples(st.just("read"), st.integers(0, 1), st.none()),
    st.tuples(st.just("accept"), st.integers(0, 8), st.none()),
    st.tuples(st.just("dismiss"), st.integers(0, 8), st.sampled_from([None, None, None, "series", "title"])),
)


@settings(
    max_examples=rounds_per_database(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, max_size=12))
def test_what_is_open_is_what_nobody_has_answered(
    db: None, calendar: CalendarServer, steps: list[tuple[str, int, Any]]
) -> None:
    owner = make_user(f"history{next(_accounts)}@example.org")
    api = client_of(owner)
    known_person(owner, "Ada", email="ada@example.org")
    history = History()
    calendar.serve(*map(lines_of, enumerate(history.meetings)))
    sources = [make_source(api, calendar.url, name=name) for name in ("One", "Two")]
    for action, number, detail in steps:
        if action == "change":
            setattr(history.meetings[number], *detail)
            calendar.serve(*map(lines_of, enumerate(history.meetings)))
        elif action == "read":
            assert read(sources[number]).state == "ok"
        else:
            answer(history, api, action, number, detail)
    for source in sources:
        read(source)
        read(source)
    found = proposals(api)
    assert sorted(map(week_of, found)) == sorted(history.expected())
    meetings = history.meetings
    assert all(row["title"] == meetings[week_of(row)[0]].title for row in found)
    assert all(int(row["at"][11:13]) == meetings[week_of(row)[0]].hour for row in found)
    assert Interaction.objects.owned_by(owner).count() == history.accepted
    assert MeetingAnswer.objects.owned_by(owner).filter(kind="accepted").count() == history.accepted


def noon() -> dt.datetime:
    """Of two days ago, so that all hours of the meetings are past."""
    return (timezone.now() - dt.timedelta(days=2)).replace(hour=12, minute=0, second=0, microsecond=0)


def lines_of(numbered: tuple[int, Meeting]) -> str:
    number, meeting = numbered
    if not meeting.is_there:
        return event("other", "20200101T100000Z", summary="Another")
    last = noon().replace(hour=meeting.hour)
    start = last - dt.timedelta(weeks=WEEKS[0]) if meeting.is_series else last
    lines = ["RRULE:FREQ=WEEKLY;COUNT=3"] if meeting.is_series else []
    lines += ["STATUS:CANCELLED"] if meeting.is_cancelled else []
    guest = attendee("ada@example.org")
    # The place says which event it is.
    return event(str(number), utc(start), guest, f"LOCATION:{number}", *lines, summary=meeting.title)


def week_of(row: dict[str, Any]) -> tuple[int, int]:
    """Which event a proposal is of, and how many weeks ago."""
    days = (noon().date() - dt.date.fromisoformat(row["at"][:10])).days
    return int(row["location"]), days // 7


def answer(history: History, api: Any, action: str, number: int, always: str | None) -> None:
    """Answer one of the proposals that are open now, if there are so many."""
    found = proposals(api)
    if number >= len(found):
        return
    row = found[number]
    body = {"ids": [row["id"]]}
    if action == "accept":
        assert api.ok("post", f"{PATH}/accept", body)["accepted"] == 1
        history.accepted += 1
    else:
        assert api.ok("post", f"{PATH}/dismiss", {**body, "always": always})["dismissed"] == 1
        if always == "series":
            history.never.add(week_of(row)[0])
        elif always == "title":
            history.titles.add(row["title"])
    swept = found if always else [row]
    for one in swept:
        same_series = always == "series" and week_of(one)[0] == week_of(row)[0]
        if one is row or same_series or (always == "title" and one["title"] == row["title"]):
            history.answered.add(week_of(one))
