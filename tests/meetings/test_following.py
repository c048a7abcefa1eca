"""RANGE=THISANDFUTURE: a change of an occurrence and of those that follow, against a slow reference."""

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meetings.calendars.occurrences import Occurrence, Zoning, occurrences
from meetings.calendars.parser import read_calendars
from tests.meetings.calendars import event, ics

BERLIN = ZoneInfo("Europe/Berlin")
START = dt.datetime(2026, 3, 2, 10)
DAY, HOUR = dt.timedelta(days=1), dt.timedelta(hours=1)
WIDE = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2027, 1, 1, tzinfo=dt.UTC)


def found_in(*events: str, span: tuple[dt.datetime, dt.datetime] = WIDE) -> list[Occurrence]:
    rows = occurrences(read_calendars([ics(*events)]).events, Zoning(floating=dt.UTC, days=BERLIN), *span)
    return sorted(rows, key=lambda row: (row.starts_at, row.event.summary))


def local(moment: dt.datetime) -> str:
    return f";TZID=Europe/Berlin:{moment:%Y%m%dT%H%M%S}"


def series(*lines: str) -> str:
    return event("s", local(START), *lines, summary="Series", end=local(START + HOUR))


def change(original: dt.datetime, start: dt.datetime, *lines: str, following: bool = True, hours: int = 1) -> str:
    range_ = ";RANGE=THISANDFUTURE" if following else ""
    recurrence = f"RECURRENCE-ID{range_};TZID=Europe/Berlin:{original:%Y%m%dT%H%M%S}"
    return event("s", local(start), recurrence, *lines, summary="Changed", end=local(start + hours * HOUR))


def test_time_length_and_title_change_with_those_that_follow() -> None:
    third = START + 14 * DAY
    found = found_in(series("RRULE:FREQ=WEEKLY;COUNT=6"), change(third, third + DAY + 4 * HOUR, hours=2))
    assert [(f"{row.starts_at.astimezone(BERLIN):%m-%d %H}", row.event.summary) for row in found] == [
        ("03-02 10", "Series"),
        ("03-09 10", "Series"),
        ("03-17 14", "Changed"),
        ("03-24 14", "Changed"),
        ("03-31 14", "Changed"),  # the clocks have changed: the local time stays
        ("04-07 14", "Changed"),
    ]
    assert [(row.ends_at - row.starts_at) // HOUR for row in found] == [1, 1, 2, 2, 2, 2]


def test_what_follows_keeps_its_keys() -> None:
    rule = "RRULE:FREQ=WEEKLY;COUNT=6"
    before = [row.key for row in found_in(series(rule))]
    after = [row.key for row in found_in(series(rule), change(START + 14 * DAY, START + 15 * DAY))]
    assert after == before


def test_those_that_follow_are_cancelled() -> None:
    third = START + 14 * DAY
    found = found_in(series("RRULE:FREQ=WEEKLY;COUNT=5"), change(third, third, "STATUS:CANCELLED"))
    assert [row.event.is_cancelled for row in found] == [False, False, True, True, True]


def test_a_cancelled_series_has_no_changes() -> None:
    found = found_in(series("RRULE:FREQ=WEEKLY;COUNT=3", "STATUS:CANCELLED"), change(START + 7 * DAY, START + 8 * DAY))
    assert all(row.event.is_cancelled for row in found)


def test_a_change_of_whole_days() -> None:
    whole = event("d", ";VALUE=DATE:20260302", "RRULE:FREQ=WEEKLY;COUNT=4", summary="Series")
    moved = event("d", ";VALUE=DATE:20260310", "RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20260309")
    assert [row.day and row.day.day for row in found_in(whole, moved)] == [2, 10, 17, 24]


@pytest.mark.parametrize(("days", "count"), [(-20, 12), (20, 10)])
def test_those_that_move_into_or_out_of_the_span_asked_for(days: int, count: int) -> None:
    parts = series("RRULE:FREQ=DAILY;COUNT=60"), change(START, START + days * DAY)
    span = dt.datetime(2026, 3, 20, tzinfo=dt.UTC), dt.datetime(2026, 4, 1, tzinfo=dt.UTC)
    assert found_in(*parts, span=span) == [row for row in found_in(*parts) if span[0] <= row.starts_at <= span[1]]
    assert len(found_in(*parts, span=span)) == count


@pytest.mark.parametrize("year", [1000, 9990])
def test_a_change_by_thousands_of_years_is_itself_alone(year: int) -> None:
    found = found_in(series("RRULE:FREQ=DAILY;COUNT=5"), change(START, START.replace(year=year)))
    assert [row.event.summary for row in found] == ["Series"] * 4


@pytest.mark.parametrize("zone", ["", ";TZID=Europe/Berlin"])
def test_two_spellings_of_one_occurrence_are_versions_of_it(zone: str) -> None:
    """Whatever their order in the file."""
    at = (
        START.strftime("%Y%m%dT%H%M%S")
        if zone
        else START.replace(tzinfo=BERLIN).astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    )
    old = event("s", local(START + HOUR), f"RECURRENCE-ID{zone}:{at}", "SEQUENCE:1", summary="Old")
    new = change(START, START + 2 * HOUR, "SEQUENCE:2", following=False)
    for order in ((old, new), (new, old)):
        assert [row.event.summary for row in found_in(series("RRULE:FREQ=WEEKLY;COUNT=1"), *order)] == ["Changed"]


def test_an_occurrence_that_is_named_by_its_day_alone() -> None:
    moved = event("s", local(START + 8 * DAY), "RECURRENCE-ID;VALUE=DATE:20260309", summary="Moved")
    found = found_in(series("RRULE:FREQ=WEEKLY;COUNT=3"), moved)
    assert [row.event.summary for row in found] == ["Series", "Moved", "Series"]


@dataclass(frozen=True)
class Change:
    number: int
    following: bool
    shift: int
    is_cancelled: bool


def reference(count: int, step: int, changes: list[Change]) -> list[tuple[dt.datetime, bool]]:
    """One occurrence after the other: its own change, else the last one that is for those that follow."""
    found = []
    current: Change | None = None
    for number in range(count):
        here = [change for change in changes if change.number == number]
        current = next((change for change in here if change.following), current)
        chosen = next((change for change in here if not change.following), current)
        at = START + number * step * DAY + (chosen.shift * HOUR if chosen else dt.timedelta())
        found.append((at.replace(tzinfo=BERLIN).astimezone(dt.UTC), chosen is not None and chosen.is_cancelled))
    return sorted(found)


@given(
    count=st.integers(1, 12),
    step=st.integers(1, 9),
    changes=st.lists(
        st.builds(Change, st.integers(0, 11), st.booleans(), st.integers(-60, 60), st.booleans()),
        max_size=5,
        unique_by=lambda change: (change.number, change.following),
    ),
    order=st.randoms(use_true_random=False),
)
def test_changes_equal_a_slow_reference(count: int, step: int, changes: list[Change], order: object) -> None:
    changes = [change for change in changes if change.number < count]
    parts = [series(f"RRULE:FREQ=DAILY;INTERVAL={step};COUNT={count}")]
    for one in changes:
        original = START + one.number * step * DAY
        lines = ["STATUS:CANCELLED"] if one.is_cancelled else []
        parts.append(change(original, original + one.shift * HOUR, *lines, following=one.following))
    order.shuffle(parts)  # type: ignore[attr-defined]  # a Random
    found = sorted((row.starts_at, row.event.is_cancelled) for row in found_in(*parts))
    assert found == reference(count, step, changes)
