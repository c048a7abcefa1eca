"""Occurrences of recurring events: against a slow reference, in two time zones, in any order, and hostile rules."""

import datetime as dt
import itertools
from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meetings.calendars.occurrences import MAX_STEPS, Zoning, occurrences
from meetings.calendars.parser import read_calendars
from meetings.calendars.recurrence import MAX_PER_YEAR, Budget, BudgetSpentError, RuleError, expand, parse_rule
from tests.meetings.calendars import event, ics

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
START = dt.datetime(2024, 1, 31, 9, 30)


def expanded(text: str, start: dt.datetime, low: dt.datetime, high: dt.datetime) -> list[dt.datetime]:
    return sorted(expand(parse_rule(text), start, None, low, high, Budget(10**6)))


def reference(
    frequency: str, interval: int, start: dt.datetime, parts: dict[str, list[int]], count: int | None, high: dt.datetime
) -> list[dt.datetime]:
    """Day by day: is it in a period that counts, and in the parts of the rule (RFC 5545, 3.3.10)?"""
    found = [start]
    day = start
    while (day := day + dt.timedelta(days=1)) <= high:
        if count is not None and len(found) >= count:
            break
        if _matches(frequency, interval, start, day, parts):
            found.append(day)
    return found


def _matches(frequency: str, interval: int, start: dt.datetime, day: dt.datetime, parts: dict[str, list[int]]) -> bool:
    monday = start.date() - dt.timedelta(days=start.weekday())
    periods = {
        "DAILY": (day.date() - start.date()).days,
        "WEEKLY": (day.date() - dt.timedelta(days=day.weekday()) - monday).days // 7,
        "MONTHLY": (day.year - start.year) * 12 + day.month - start.month,
        "YEARLY": day.year - start.year,
    }
    if periods[frequency] % interval:
        return False
    months, days, weekdays = parts.get("BYMONTH"), parts.get("BYMONTHDAY"), parts.get("BYDAY")
    if frequency == "YEARLY" and not months and not weekdays:
        months = months or ([start.month] if not days else None)
    if not days and not weekdays:
        if frequency == "WEEKLY":
            weekdays = [start.weekday()]
        elif frequency in {"MONTHLY", "YEARLY"}:
            days = [start.day]
    last = ((day.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)).day
    return (
        (not months or day.month in months)
        and (not days or day.day in days or day.day - last - 1 in days)
        and (not weekdays or day.weekday() in weekdays)
    )


@given(
    frequency=st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
    interval=st.integers(1, 5),
    start=st.datetimes(dt.datetime(2019, 1, 1), dt.datetime(2024, 12, 31)).map(lambda at: at.replace(microsecond=0)),
    months=st.none() | st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True),
    days=st.none() | st.lists(st.integers(1, 31) | st.integers(-31, -1), min_size=1, max_size=4, unique=True),
    weekdays=st.none() | st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True),
    count=st.none() | st.integers(1, 40),
    skipped=st.integers(0, 900),
)
def test_expansion_equals_a_slow_reference(
    frequency: str,
    interval: int,
    start: dt.datetime,
    months: list[int] | None,
    days: list[int] | None,
    weekdays: list[int] | None,
    count: int | None,
    skipped: int,
) -> None:
    parts: dict[str, list[int]] = {}
    if months:
        parts["BYMONTH"] = months
    if days and frequency != "WEEKLY":
        parts["BYMONTHDAY"] = days
    if weekdays:
        parts["BYDAY"] = weekdays
    text = f"FREQ={frequency};INTERVAL={interval}" + (f";COUNT={count}" if count else "")
    for name, values in parts.items():
        words = [DAYS[value] for value in values] if name == "BYDAY" else map(str, values)
        text += f";{name}={','.join(words)}"
    low, high = start + dt.timedelta(days=skipped), start + dt.timedelta(days=skipped + 300)
    wanted = [at for at in reference(frequency, interval, start, parts, count, high) if at >= low]
    assert expanded(text, start, low, high) == wanted, text


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_a_series_stays_at_its_local_time_when_the_clocks_change(zone: str) -> None:
    weekly = event("w", f";TZID={zone}:20260302T090000", "RRULE:FREQ=WEEKLY", end=f";TZID={zone}:20260302T100000")
    calendar = read_calendars([ics(weekly)])
    zoning = Zoning(floating=dt.UTC, days=dt.UTC)
    since, until = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 12, 1, tzinfo=dt.UTC)
    found = list(occurrences(calendar.events, zoning, since, until))
    local = {row.starts_at.astimezone(ZoneInfo(zone)).strftime("%a %H:%M") for row in found}
    assert local == {"Mon 09:00"}
    assert len({row.starts_at.hour for row in found}) == 2  # in UTC they move
    assert {row.ends_at - row.starts_at for row in found} == {dt.timedelta(hours=1)}


def test_a_time_that_the_clock_skips_is_after_the_gap() -> None:
    nightly = event("n", ";TZID=Europe/Berlin:20260327T023000", "RRULE:FREQ=DAILY;COUNT=4")
    found = occurrences(
        read_calendars([ics(nightly)]).events,
        Zoning(floating=dt.UTC, days=dt.UTC),
        dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2027, 1, 1, tzinfo=dt.UTC),
    )
    assert [f"{row.starts_at.astimezone(BERLIN):%d %H:%M}" for row in found] == [
        "27 02:30",
        "28 02:30",
        "29 03:30",
        "30 02:30",
    ]


def test_changed_added_removed_and_cancelled_occurrences() -> None:
    series = event(
        "s",
        ";TZID=Europe/Berlin:20260105T100000",
        "RRULE:FREQ=WEEKLY;UNTIL=20260301T090000Z",
        "EXDATE;TZID=Europe/Berlin:20260112T100000",
        "RDATE;TZID=Europe/Berlin:20260107T100000",
        summary="Series",
    )
    moved = event("s", ";TZID=Europe/Berlin:20260120T160000", "RECURRENCE-ID:20260119T090000Z", summary="Moved")
    cancelled = event(
        "s",
        ";TZID=Europe/Berlin:20260126T100000",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260126T100000",
        "STATUS:CANCELLED",
    )
    span = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 2, 3, tzinfo=dt.UTC)
    zoning = Zoning(floating=dt.UTC, days=dt.UTC)
    orders = ([series, moved, cancelled], [cancelled, moved, series])
    results = []
    for order in orders:
        found = sorted(occurrences(read_calendars([ics(*order)]).events, zoning, *span), key=lambda row: row.starts_at)
        results.append([(row.starts_at, row.event.summary, row.event.is_cancelled, row.key) for row in found])
    assert results[0] == results[1]
    assert [(f"{at:%m-%d}", summary, is_cancelled) for at, summary, is_cancelled, _ in results[0]] == [
        ("01-05", "Series", False),
        ("01-07", "Series", False),
        ("01-20", "Moved", False),
        ("01-26", "", True),
        ("02-02", "Series", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=SECONDLY",
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;INTERVAL=7;BYHOUR=3",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=SECONDLY;COUNT=1000000000",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY",
    ],
)
def test_hostile_rules_are_bounded(text: str) -> None:
    start, high = dt.datetime(1970, 1, 5), dt.datetime(2026, 6, 1)
    budget = Budget(300_000)
    found = list(expand(parse_rule(text), start, None, dt.datetime(2024, 6, 1), high, budget))
    by_year: dict[int, int] = {}
    for at in found:
        by_year[at.year] = by_year.get(at.year, 0) + 1
    assert all(count <= MAX_PER_YEAR for count in by_year.values())
    if text in {"FREQ=SECONDLY", "FREQ=HOURLY"}:
        assert max(found) == high
        assert by_year == {2024: MAX_PER_YEAR, 2025: MAX_PER_YEAR, 2026: MAX_PER_YEAR}


def test_changed_occurrences_count_among_those_of_a_year() -> None:
    starts = [dt.datetime(2024, 3, 1) + dt.timedelta(hours=number) for number in range(500)]
    changes = [event("a", f"{start:%Y%m%dT%H%M%SZ}", f"RECURRENCE-ID:{start:%Y%m%dT%H%M%SZ}") for start in starts]
    calendar = read_calendars([ics(event("a", "20240101T100000Z", "RRULE:FREQ=DAILY;COUNT=3"), *changes)])
    low, high = dt.datetime(2023, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    found = sorted(
        row.starts_at for row in occurrences(calendar.events, Zoning(floating=dt.UTC, days=dt.UTC), low, high)
    )
    assert found == [start.replace(tzinfo=dt.UTC) for start in starts[-MAX_PER_YEAR:]]


def test_the_steps_of_a_file_are_bounded() -> None:
    with pytest.raises(BudgetSpentError):
        list(expand(parse_rule("FREQ=DAILY;COUNT=100000"), START, None, START, dt.datetime(2300, 1, 1), Budget(1000)))


@pytest.mark.parametrize(
    "text",
    ["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1", "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6"],
)
def test_rules_that_never_match_cost_what_is_looked_through(text: str) -> None:
    """dateutil goes on to the year 9999 by itself, and says nothing meanwhile."""
    budget, span = Budget(MAX_STEPS // 20), (START + dt.timedelta(1), dt.datetime(2026, 6, 1))
    with pytest.raises(BudgetSpentError):
        list(itertools.chain(*(expand(parse_rule(text), START, None, *span, budget) for _ in range(1000))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FREQ=NEVER",
        "FREQ=DAILY;BYSETPOS=2",
        "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=3,-3",
        "FREQ=MINUTELY;BYSETPOS=7",
        "FREQ=SECONDLY;BYSECOND=1,2,3;BYSETPOS=-2",
        "FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=3",
        "FREQ=MONTHLY;BYSETPOS=32",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=1;UNTIL=20260101",
        "FREQ=DAILY;BYHOUR=" + ",".join(["1"] * 500),
        "FREQ=DAILY;BYMONTHDAY=0",
        "FREQ=DAILY;BYMONTH=13",
        "FREQ=MONTHLY;BYDAY=0MO",
        "FREQ=DAILY;FREQ=DAILY",
        "FREQ=YEARLY;BYHOUR=" + ",".join(map(str, range(24))) + ";BYMINUTE=" + ",".join(map(str, range(60))),
    ],
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(RuleError):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["30", "27", "31", "30"]),
        ("FREQ=MONTHLY;BYMONTHDAY=29;BYMONTH=2", []),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", []),
        ("FREQ=DAILY;BYHOUR=8,20;BYSETPOS=-1;INTERVAL=40", ["08", "20", "29"]),
        ("FREQ=YEARLY;BYWEEKNO=5;BYDAY=FR", ["30"]),
    ],
)
def test_other_rules(text: str, days: list[str]) -> None:
    start, low = dt.datetime(2020, 1, 31, 20), dt.datetime(2026, 1, 1)
    assert [f"{at:%d}" for at in expanded(text, start, low, dt.datetime(2026, 5, 1))] == days


def test_a_leap_day_comes_every_four_years() -> None:
    found = expanded("FREQ=YEARLY", dt.datetime(1896, 2, 29), dt.datetime(1896, 1, 1), dt.datetime(1913, 1, 1))
    assert [at.year for at in found] == [1896, 1904, 1908, 1912]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_the_lines_of_weekday_rules_counts_nothing(reverse: bool) -> None:
    order: Callable[[list[str]], list[str]] = (lambda parts: parts[::-1]) if reverse else (lambda parts: parts)
    text = ";".join(order(["FREQ=MONTHLY", "BYDAY=-1FR", "INTERVAL=2"]))
    found = expanded(text, dt.datetime(2026, 1, 30, 8), dt.datetime(2026, 1, 1), dt.datetime(2026, 8, 1))
    assert [at.strftime("%m-%d") for at in found] == ["01-30", "03-27", "05-29", "07-31"]


@given(order=st.permutations(range(6)))
def test_the_order_of_the_components_changes_nothing(order: list[int]) -> None:
    parts = [
        event("s", ";TZID=Europe/Berlin:20260105T100000", "RRULE:FREQ=WEEKLY;COUNT=6", summary="Series"),
        event("s", ";TZID=Europe/Berlin:20260113T100000", "RECURRENCE-ID:20260112T090000Z", summary="Moved"),
        event("s", ";TZID=Europe/Berlin:20260119T100000", "RECURRENCE-ID:20260119T090000Z", "STATUS:CANCELLED"),
        event("t", "20260110T100000Z", "SEQUENCE:1", summary="Old"),
        event("t", "20260111T100000Z", "SEQUENCE:2", summary="New"),
        event("t", "20260112T100000Z", "SEQUENCE:2", summary="As new"),
    ]

    def found(events: list[str]) -> list[tuple[dt.datetime, str, str]]:
        span = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 4, 1, tzinfo=dt.UTC)
        rows = occurrences(read_calendars([ics(*events)]).events, Zoning(floating=NEW_YORK, days=NEW_YORK), *span)
        return sorted((row.starts_at, row.event.summary, row.key) for row in rows)

    assert found([parts[number] for number in order]) == found(parts)
