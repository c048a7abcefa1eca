"""Files as Google, Outlook, iCloud and Nextcloud write them, and hostile ones."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from meetings.calendars.occurrences import Occurrence, Zoning, occurrences
from meetings.calendars.parser import MAX_EVENTS, NotCalendarError, TooManyEventsError, read_calendars
from tests.meetings.calendars import event, ics

TOKYO = ZoneInfo("Asia/Tokyo")
SINCE, UNTIL = dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2027, 1, 1, tzinfo=dt.UTC)


def found_in(data: bytes, zone: dt.tzinfo = TOKYO) -> list[Occurrence]:
    calendar = read_calendars([data])
    zoning = Zoning(floating=calendar.zone or zone, days=zone)
    return sorted(occurrences(calendar.events, zoning, SINCE, UNTIL), key=lambda row: row.starts_at)


GOOGLE = """BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
CALSCALE:GREGORIAN
METHOD:PUBLISH
X-WR-CALNAME:alice@example.org
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VEVENT
DTSTART:20260310T110000Z
DTEND:20260310T120000Z
DTSTAMP:20260311T080000Z
UID:abc123@google.com
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN=ada+wo
 rk@example.org;X-NUM-GUESTS=0:mailto:ada+work@example.org
ATTENDEE;CUTYPE=RESOURCE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN=Room 1;X
 -NUM-GUESTS=0:mailto:c_188@resource.calendar.google.com
DESCRIPTION:Secret notes
SUMMARY:Lunch\\, with cake
LOCATION:Caf\u00e9 "Am Eck"\\; Wien
STATUS:CONFIRMED
TRANSP:OPAQUE
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:This is an event reminder
TRIGGER:-P0DT0H30M0S
END:VALARM
END:VEVENT
END:VCALENDAR
"""

OUTLOOK = """BEGIN:VCALENDAR
METHOD:PUBLISH
PRODID:Microsoft Exchange Server 2010
VERSION:2.0
BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0400
TZOFFSETTO:+0300
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0300
TZOFFSETTO:+0400
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:040000008200E00074C5B7101A82E008
SUMMARY:Review
DTSTART;TZID=W. Europe Standard Time:20260701T100000
DTEND;TZID=W. Europe Standard Time:20260701T110000
CLASS:PUBLIC
TRANSP:OPAQUE
STATUS:CONFIRMED
ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;CN="Lovelace, Ada":MAILTO:Ada@Example.org
X-MICROSOFT-CDO-BUSYSTATUS:BUSY
END:VEVENT
BEGIN:VEVENT
UID:custom
SUMMARY:Custom
DTSTART;TZID=Customized Time Zone:20260701T100000
DURATION:PT45M
END:VEVENT
BEGIN:VEVENT
UID:quoted
SUMMARY:Quoted
DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin":20260702T100000
END:VEVENT
END:VCALENDAR
"""

ICLOUD = """BEGIN:VCALENDAR
CALSCALE:GREGORIAN
PRODID:-//Apple Inc.//iOS 18.1//EN
VERSION:2.0
BEGIN:VEVENT
UID:8E2F
DTSTART:20260501T180000
DTEND:20260501T190000
SUMMARY:Floating
ATTENDEE;CN="Ada ""The"" Lovelace";CUTYPE=INDIVIDUAL;EMAIL="ada@example.org";PARTSTAT=ACCEPTED:/aMTQ/principal/
END:VEVENT
BEGIN:VEVENT
UID:day
DTSTART;VALUE=DATE:20260502
DTEND;VALUE=DATE:20260503
SUMMARY:Whole day
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
"""


def lines(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def test_google() -> None:
    [row] = found_in(lines(GOOGLE))
    assert (row.event.summary, row.event.location) == ("Lunch, with cake", 'Caf\u00e9 "Am Eck"; Wien')
    assert row.starts_at == dt.datetime(2026, 3, 10, 11, tzinfo=dt.UTC)
    guest, room = row.event.attendees
    assert (guest.email, guest.name, guest.is_person) == ("ada+work@example.org", "", True)
    assert not room.is_person
    assert "Secret" not in repr(row)


def test_outlook() -> None:
    review, custom, quoted = found_in(lines(OUTLOOK))
    by_summary = {row.event.summary: row for row in (review, custom, quoted)}
    assert by_summary["Review"].starts_at == dt.datetime(2026, 7, 1, 8, tzinfo=dt.UTC)
    assert by_summary["Custom"].starts_at == dt.datetime(2026, 7, 1, 6, tzinfo=dt.UTC)
    assert by_summary["Custom"].ends_at == dt.datetime(2026, 7, 1, 6, 45, tzinfo=dt.UTC)
    assert by_summary["Quoted"].starts_at == dt.datetime(2026, 7, 2, 9, tzinfo=dt.UTC)
    [guest] = by_summary["Review"].event.attendees
    assert (guest.email, guest.name) == ("Ada@Example.org", "Lovelace, Ada")


def test_icloud_floating_times_are_of_the_zone_of_the_account() -> None:
    floating, day = found_in(lines(ICLOUD))
    assert floating.starts_at == dt.datetime(2026, 5, 1, 9, tzinfo=dt.UTC)  # 18:00 in Tokyo
    assert [guest.email for guest in floating.event.attendees] == ["ada@example.org"]
    assert (day.day, day.starts_at) == (dt.date(2026, 5, 2), dt.datetime(2026, 5, 1, 15, tzinfo=dt.UTC))
    assert day.event.is_transparent


def test_floating_times_are_of_x_wr_timezone() -> None:
    data = ics(event("a", "20260310T100000"), head="X-WR-TIMEZONE:America/New_York\n")
    assert [row.starts_at.hour for row in found_in(data)] == [14]


def test_nextcloud_folds_in_the_middle_of_a_letter() -> None:
    text = "SUMMARY:Br\u00fcnch mit \u738b\u5c0f\u660e".encode()
    cut = text.index("\u738b".encode()) + 1
    head = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:n\r\nDTSTART:20260310T100000Z\r\n"
    folded = head + text[:cut] + b"\r\n " + text[cut:] + b"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    assert [row.event.summary for row in found_in(folded)] == ["Br\u00fcnch mit \u738b\u5c0f\u660e"]


@pytest.mark.parametrize(
    "address",
    ["not an address@example.org", "a@b@example.org", "<ada@example.org>", "ada@", "x" * 250 + "@example.org", "ada@-"],
)
def test_an_address_that_no_person_can_have_is_none(address: str) -> None:
    [row] = found_in(ics(event("a", "20260310T100000Z", f"ATTENDEE:mailto:{address}")))
    assert [guest.email for guest in row.event.attendees] == [""]


def test_a_zone_that_no_one_knows_is_floating() -> None:
    data = ics(event("a", ";TZID=Moon/Tranquility:20260310T100000"))
    assert [row.starts_at.hour for row in found_in(data)] == [1]


@pytest.mark.parametrize("name", ["Europe/Berlin", "/freeassociation.sourceforge.net/Europe/Berlin", "CET"])
def test_other_names_of_zones(name: str) -> None:
    assert [row.starts_at.hour for row in found_in(ics(event("a", f";TZID={name}:20260110T100000")))] == [9]


def test_of_several_versions_the_newest_counts() -> None:
    old, new = (event("a", "20260310T100000Z", f"SEQUENCE:{number}", summary=str(number)) for number in (1, 2))
    assert [row.event.summary for row in found_in(ics(old, new))] == ["2"]
    assert [row.event.summary for row in found_in(ics(new, old))] == ["2"]


@pytest.mark.parametrize(
    "data", [b"", b"<!doctype html><p>Sign in", b"BEGIN:VCARD\r\nEND:VCARD\r\n", ics(event("a", "20260101"))[:-20]]
)
def test_what_is_no_calendar_or_only_a_part(data: bytes) -> None:
    with pytest.raises(NotCalendarError):
        read_calendars([data])


@pytest.mark.parametrize(
    "broken",
    [
        "UID:a",
        "DTSTART:20260101T000000Z",
        "UID:a\nDTSTART:20269999T000000Z",
        "UID:a\nDTSTART:20260101T100000Z\nDTEND:20250101T100000Z",
        "UID:a\nDTSTART:20260101T100000Z\nRRULE:FREQ=NEVER",
        "UID:a\nDTSTART:20260101T100000Z\nEXDATE:" + ",".join(["20260101T100000Z"] * 11_000),
        "UID:a\nDTSTART:20260101T100000Z\nSUMMARY:" + "x" * 30_000,
        "UID:a\nDTSTART:00010101T100000Z\nRRULE:FREQ=DAILY",
    ],
)
def test_one_broken_event_is_left_out_and_counted(broken: str) -> None:
    calendar = read_calendars([ics(broken, event("b", "20260310T100000Z"))])
    assert (len(calendar.events), calendar.broken) == (1, 1)


def test_too_many_events() -> None:
    data = b"BEGIN:VCALENDAR\r\n" + b"BEGIN:VEVENT\r\nEND:VEVENT\r\n" * (MAX_EVENTS + 1) + b"END:VCALENDAR\r\n"
    with pytest.raises(TooManyEventsError):
        read_calendars([data])


def defined(number: int, rule: str, count: int = 2) -> str:
    """A zone of its own, one hour before UTC all year."""
    part = "BEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\nRRULE:{}\nEND:STANDARD\n"
    return f"BEGIN:VTIMEZONE\nTZID:Zone {number}\n{part.format(rule) * count}END:VTIMEZONE\n"


@pytest.mark.parametrize(
    ("rule", "count", "hour"),
    [
        ("FREQ=YEARLY;BYDAY=1SU;BYMONTH=2", 2, 9),
        ("FREQ=YEARLY;BYDAY=1SU;BYMONTH=2", 9, 1),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", 2, 1),  # never
        ("FREQ=SECONDLY", 2, 1),
        ("FREQ=YEARLY;BYHOUR=1;BYMINUTE=" + ",".join(map(str, range(60))), 2, 1),
        ("FREQ=YEARLY;COUNT=1", 2, 1),
    ],
)
def test_a_zone_of_its_own_changes_once_a_year(rule: str, count: int, hour: int) -> None:
    """dateutil follows any other rule without a limit: such a zone is one that no one knows."""
    data = ics(event("a", ";TZID=Zone 1:20260110T100000"), head=defined(1, rule, count))
    assert [row.starts_at.hour for row in found_in(data)] == [hour]


@pytest.mark.parametrize("offset", ["+2400", "-9999", "+2399"])
def test_a_zone_a_day_from_utc_is_one_that_no_one_knows(offset: str) -> None:
    head = defined(1, "FREQ=YEARLY;BYDAY=1SU;BYMONTH=2").replace("TZOFFSETTO:+0100", f"TZOFFSETTO:{offset}")
    data = ics(event("a", ";TZID=Zone 1:20260110T100000"), event("b", "20260110T100000Z"), head=head)
    assert [row.starts_at.hour for row in found_in(data)] == [1, 10]


@pytest.mark.parametrize(("distinct", "known"), [(1, 60), (60, 50)])
def test_fifty_zones_of_its_own_in_all_resources(distinct: int, known: int) -> None:
    files = [
        ics(
            event(str(number), f";TZID=Zone {number % distinct}:20260110T100000"),
            head=defined(number % distinct, "FREQ=YEARLY;BYDAY=1SU;BYMONTH=2"),
        )
        for number in range(60)
    ]
    calendar = read_calendars(files)
    assert sum(row.start.zone is not None for row in calendar.events) == known


def test_fifty_zones_of_its_own_in_a_file() -> None:
    events = [event(str(number), f";TZID=Zone {number}:20260110T100000") for number in range(60)]
    data = ics(*events, head="".join(defined(number, "FREQ=YEARLY;BYDAY=1SU;BYMONTH=2") for number in range(60)))
    assert sorted(row.starts_at.hour for row in found_in(data)) == [1] * 10 + [9] * 50
