"""Quiet hours in a time zone, also on days on which its clocks change."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from people.dates.schedule import QuietHours


@pytest.mark.parametrize(
    ("zone", "hours", "instant", "after"),
    [
        ("UTC", "22:00-07:00", "2026-05-04T21:59", "2026-05-04T21:59"),
        ("UTC", "22:00-07:00", "2026-05-04T22:00", "2026-05-05T07:00"),
        ("UTC", "22:00-07:00", "2026-05-04T06:59", "2026-05-04T07:00"),
        ("UTC", "22:00-07:00", "2026-05-04T07:00", "2026-05-04T07:00"),
        ("UTC", "12:00-14:30", "2026-05-04T12:00", "2026-05-04T14:30"),
        ("UTC", "00:00-23:59", "2026-05-04T23:58", "2026-05-04T23:59"),
        ("Asia/Tokyo", "22:00-07:00", "2026-05-04T13:00", "2026-05-04T22:00"),
        # Clocks go from 02:00 to 03:00 on 29 March, at 01:00 UTC: 02:30 is the first instant after the gap.
        ("Europe/Berlin", "22:00-02:30", "2026-03-28T22:00", "2026-03-29T01:00"),
        ("Europe/Berlin", "02:15-02:45", "2026-03-29T01:00", "2026-03-29T01:00"),
        ("Europe/Berlin", "02:15-04:00", "2026-03-29T01:00", "2026-03-29T02:00"),
        # They show 02:00 to 03:00 twice on 25 October: 02:30 is first at 00:30 UTC, and then quiet is over.
        ("Europe/Berlin", "22:00-02:30", "2026-10-25T00:29", "2026-10-25T00:30"),
        ("Europe/Berlin", "22:00-02:30", "2026-10-25T01:10", "2026-10-25T01:10"),
        ("Europe/Berlin", "02:30-06:00", "2026-10-25T01:10", "2026-10-25T05:00"),
        # There was no 30 December: 07:00 of it is the first instant of the 31st, when its own begin and end at 07:00.
        ("Pacific/Apia", "22:00-07:00", "2011-12-30T09:00", "2011-12-30T17:00"),
    ],
)
def test_the_end_of_quiet_hours(zone: str, hours: str, instant: str, after: str) -> None:
    start, end = (dt.time.fromisoformat(part) for part in hours.split("-"))
    at, expected = (dt.datetime.fromisoformat(f"{text}+00:00") for text in (instant, after))
    assert QuietHours(start, end).after(at, ZoneInfo(zone)) == expected
