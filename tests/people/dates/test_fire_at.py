"""The instant of a reminder in every zone of the tz database, around every change of its clocks."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people.dates.recurrence import end_of_day, fire_at, local_day

_NAMES = files("tzdata").joinpath("zones").read_text().split()
# Each zone once: a third of the names are aliases, which have the same file.
ZONES = sorted({files("tzdata.zoneinfo").joinpath(name).read_bytes(): name for name in _NAMES}.values())
SECOND = timedelta(seconds=1)
FORTNIGHT = 14 * 86400


def offset(zone: ZoneInfo, stamp: int) -> timedelta | None:
    return datetime.fromtimestamp(stamp, zone).utcoffset()


@cache
def clock_changes(name: str) -> tuple[int, ...]:
    """The instants from 1970 to 2037 at which the zone's clocks change (no two lie within a fortnight)."""
    zone, found = ZoneInfo(name), []
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1970, 2038))
    before = offset(zone, first)
    for stamp in range(first, last, FORTNIGHT):
        if (after := offset(zone, stamp + FORTNIGHT)) != before:
            low, high = stamp, stamp + FORTNIGHT
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            found.append(high)
        before = after
    return tuple(found)


def search_fire_at(day: date, zone: ZoneInfo, hour: int) -> datetime:
    """The first minute around that day at which the local clock shows the hour, else the first with a later time."""
    wanted = datetime.combine(day, time(hour))
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=30)
    clock_times = [(at := start + timedelta(minutes=m), at.astimezone(zone).replace(tzinfo=None)) for m in range(5400)]
    exact = next((at for at, clock_time in clock_times if clock_time == wanted), None)
    return exact or next(at for at, clock_time in clock_times if clock_time > wanted)


@given(st.sampled_from(ZONES), st.randoms(use_true_random=False), st.integers(-1, 1), st.integers(0, 23))
def test_agrees_with_a_search_of_every_minute(name: str, random: object, shift: int, hour: int) -> None:
    zone, stamps = ZoneInfo(name), clock_changes(name)
    # Offsets of odd seconds ended in 1972; search_fire_at tries whole minutes only.
    stamps = tuple(stamp for stamp in stamps if stamp > 2 * 366 * 86400) or (1_000_000_000,)
    stamp = random.choice(stamps)  # type: ignore[attr-defined]  # hypothesis types randoms() loosely
    day = local_day(datetime.fromtimestamp(stamp, UTC), zone) + timedelta(shift)
    assert fire_at(day, zone, hour) == search_fire_at(day, zone, hour)


@pytest.mark.parametrize("part", range(8))
def test_every_clock_change_of_every_time_zone(part: int) -> None:
    """The result shows the hour, or is the first instant after the gap that contains it; no earlier instant does."""
    for name in ZONES[part::8]:
        zone = ZoneInfo(name)
        for stamp in clock_changes(name)[-40:]:
            change = datetime.fromtimestamp(stamp, UTC)
            skipped_from = (change - SECOND).astimezone(zone)
            for hour in {skipped_from.hour, change.astimezone(zone).hour, (skipped_from.hour + 1) % 24, 9}:
                check_fire_at(zone, change, (skipped_from + SECOND).date(), hour)
                check_fire_at(zone, change, local_day(change, zone), hour)


def check_fire_at(zone: ZoneInfo, change: datetime, day: date, hour: int) -> None:
    found, wanted = fire_at(day, zone, hour), datetime.combine(day, time(hour))
    shown = found.astimezone(zone).replace(tzinfo=None)
    before = (found - SECOND).astimezone(zone).replace(tzinfo=None)
    if shown == wanted:
        twin = found.astimezone(zone).fold
        assert twin == 0, (zone, day, hour)
        assert before < wanted or before >= shown, (zone, day, hour)
    else:
        assert before < wanted < shown, (zone, day, hour)
        assert found == change, (zone, day, hour)


@pytest.mark.parametrize(
    ("zone", "day", "hour", "expected"),
    [
        ("Europe/Berlin", "2026-03-29", 2, "2026-03-29T01:00"),  # 2:00 is skipped: the first instant after
        ("Europe/Berlin", "2026-10-25", 2, "2026-10-25T00:00"),  # 2:00 occurs twice; the first one counts
        ("Europe/Berlin", "2026-03-29", 9, "2026-03-29T07:00"),
        ("Australia/Lord_Howe", "2026-10-04", 2, "2026-10-03T15:30"),  # a gap of half an hour: 2:00 to 2:30
        ("America/Havana", "2026-03-08", 0, "2026-03-08T05:00"),  # midnight itself is skipped
        ("Africa/Cairo", "2026-04-24", 0, "2026-04-23T22:00"),
        ("Pacific/Apia", "2011-12-30", 9, "2011-12-30T10:00"),  # Samoa skipped this day
        ("Asia/Kathmandu", "2026-01-01", 9, "2026-01-01T03:15"),
        ("Pacific/Kiritimati", "2026-01-01", 9, "2025-12-31T19:00"),
        ("Pacific/Niue", "2026-01-01", 23, "2026-01-02T10:00"),
    ],
)
def test_named_cases(zone: str, day: str, hour: int, expected: str) -> None:
    found = fire_at(date.fromisoformat(day), ZoneInfo(zone), hour)
    assert found == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_the_end_of_a_day_is_the_start_of_the_next_even_where_midnight_is_skipped() -> None:
    zone = ZoneInfo("America/Havana")
    assert end_of_day(date(2026, 3, 7), zone) == datetime(2026, 3, 8, 5, tzinfo=UTC)
    assert local_day(datetime(2026, 3, 8, 4, 59, tzinfo=UTC), zone) == date(2026, 3, 7)
