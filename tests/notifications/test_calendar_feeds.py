"""Calendar feeds for calendar programs: their secret URL is the only credential; they contain upcoming events."""

import datetime as dt
import itertools
from typing import Any

import pytest
import time_machine
import vobject
from dateutil.rrule import rrulestr
from django.db import connection
from django.test.utils import CaptureQueriesContext
from icalendar import Calendar

from accounts.models import User
from accounts.services.addresses import revoke_access_of_others
from accounts.vocabularies import LeapDayRule, NameDisplayFormat
from notifications.models import CalendarFeed
from people.dates.upcoming import upcoming_events
from people.models import Group, ImportantDate, Membership, Person
from people.vocabularies import ReminderType, Unit
from tests.builders import UNKNOWN_ID, make_person
from tests.client import Client
from tests.concurrency import repeat_concurrently
from tests.leaks import leak_detector
from tests.rounds import rounds

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]
FEEDS = "/api/calendar-feeds"
TODAY = dt.date(2026, 3, 1)  # of the fixture clock


def make_feed(api: Client, **body: Any) -> dict[str, Any]:
    feed: dict[str, Any] = api.ok("POST", FEEDS, {"name": "Phone", **body}, status=201)["calendarFeed"]
    return feed


def path_of(feed: dict[str, Any]) -> str:
    return str(feed["url"][feed["url"].index("/calendar/") :])


def read(feed: dict[str, Any], **headers: str) -> Any:
    return Client().get(path_of(feed), **headers)  # type: ignore[arg-type]


def text_of(feed: dict[str, Any]) -> str:
    response = read(feed)
    assert (response.status_code, response["Content-Type"]) == (200, "text/calendar; charset=utf-8")
    text = b"".join(response.streaming_content).decode()
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    assert "\n" not in text.replace("\r\n", "")
    return text


def events_of(feed: dict[str, Any]) -> list[Any]:
    """The events of the feed, parsed by vobject."""
    return list(getattr(vobject.readOne(text_of(feed)), "vevent_list", []))


def recurring_events(feed: dict[str, Any]) -> list[Any]:
    return [event for event in events_of(feed) if not hasattr(event, "recurrence_id")]


def overridden_summaries(feed: dict[str, Any]) -> dict[dt.date, str]:
    """The summaries of events for a single occurrence, by day."""
    return {e.recurrence_id.value: e.summary.value for e in events_of(feed) if hasattr(e, "recurrence_id")}


def days_of(event: Any, start: dt.date, end: dt.date) -> set[dt.date]:
    """The days of the event's occurrences, computed by dateutil."""
    first = dt.datetime.combine(event.dtstart.value, dt.time())
    span = dt.datetime.combine(start, dt.time()), dt.datetime.combine(end, dt.time())
    days = {first.date()}
    if hasattr(event, "rrule"):
        days = {day.date() for day in rrulestr(event.rrule.value, dtstart=first).between(*span, inc=True)}
    for listed in getattr(event, "rdate_list", []):
        days.update(listed.value)
    return {day for day in days if start <= day <= end}


def add_date(person: Person, day: str, **fields: Any) -> ImportantDate:
    return ImportantDate.objects.create(
        owner=person.owner, person=person, date=dt.date.fromisoformat(day), **{"type": "BIRTHDAY", **fields}
    )


@pytest.mark.both_databases
def test_feed_is_created_read_changed_and_deleted(api: Client, alice: User, clock: Any) -> None:
    made = make_feed(api)
    assert made["url"].startswith("http")
    defaults = (made["groupIds"], made["kinds"], made["alarms"], made["language"], made["lastReadAt"])
    assert defaults == ([], ["important_date", "contact"], True, "en", None)
    assert path_of(made).removeprefix("/calendar/").removesuffix(".ics") not in str(CalendarFeed.unscoped.values_list())
    assert "X-WR-CALNAME:Phone" in text_of(made)
    [listed] = api.ok("GET", FEEDS)["calendarFeeds"]
    assert (listed["lastReadAt"], "url" in listed) == ("2026-03-01T12:00:00.000Z", False)
    path = f"{FEEDS}/{made['id']}"
    etag = api.call("GET", path)["ETag"]
    body = {"name": "Tablet", "kinds": ["contact"], "language": "de-DE"}
    updated = api.ok("PUT", path, body, HTTP_IF_MATCH=etag)["calendarFeed"]
    assert (updated["name"], updated["kinds"], updated["language"], updated["alarms"]) == (
        "Tablet",
        ["contact"],
        "de-DE",
        True,
    )
    assert api.ok("PUT", path, {}, status=412, HTTP_IF_MATCH=etag)["current"]["name"] == "Tablet"
    rotated = api.ok("POST", f"{path}/rotate")["calendarFeed"]
    assert read(made).status_code == 404
    assert "X-WR-CALNAME:Tablet" in text_of(rotated)
    api.ok("DELETE", path)
    assert read(rotated).status_code == 404
    assert read(rotated).json() == {"error": "Not found.", "code": "not_found"}


def test_feed_with_a_deleted_group_can_be_sent_back_unchanged(api: Client) -> None:
    groups = [api.ok("POST", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in ("A", "B")]
    path = f"{FEEDS}/{make_feed(api, groupIds=groups[:1])['id']}"
    for group in groups:
        api.ok("DELETE", f"/api/groups/{group}")
    api.ok("PUT", path, api.ok("GET", path)["calendarFeed"])
    assert api.ok("GET", path)["calendarFeed"]["groupIds"] == groups[:1]
    api.ok("PUT", path, {"groupIds": groups}, status=400)
    api.ok("PUT", path, {"groupIds": []})
    api.ok("PUT", path, {"groupIds": groups[:1]}, status=400)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["birthday"]}, "kinds"),
        ({"language": "xx"}, "language"),
        ({"alarms": 1}, "alarms"),
        ({"groupIds": [UNKNOWN_ID]}, "groupIds"),
    ],
)
def test_invalid_feeds_are_refused(api: Client, body: dict[str, Any], field: str) -> None:
    response = api.ok("POST", FEEDS, {"name": "Phone", **body}, status=400)
    assert response["details"][0]["field"].startswith(field)


def test_account_has_at_most_twenty_feeds(api: Client, alice: User) -> None:
    for _ in range(20):
        make_feed(api)
    api.ok("POST", FEEDS, {"name": "Phone"}, status=409)
    assert CalendarFeed.objects.owned_by(alice).count() == 20


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_limit_of_twenty_feeds_holds_for_concurrent_requests(alice: User) -> None:
    counted = repeat_concurrently(alice, 24, lambda client, number: client.call("POST", FEEDS, {"name": str(number)}))
    assert counted == {201: 20, 409: 4}


@pytest.mark.both_databases
def test_feed_needs_get_and_its_secret(api: Client, ada: Person) -> None:
    feed = make_feed(api)
    assert Client().post(path_of(feed)).status_code == 405
    assert Client().get(path_of(feed).removesuffix(".ics")).status_code == 404
    for secret in ("x", feed["id"], "%00", "é", "a" * 4000, CalendarFeed.unscoped.get().digest):
        assert Client().get(f"/calendar/{secret}.ics").status_code == 404
    head = Client().head(path_of(feed))
    assert (head.status_code, b"".join(head), head["Content-Type"]) == (200, b"", "text/calendar; charset=utf-8")


def test_feed_is_404_while_the_account_is_inactive_and_after_revocation(api: Client, alice: User) -> None:
    feed = make_feed(api)
    alice.is_active = False
    alice.save(update_fields=["is_active"])
    assert read(feed).status_code == 404
    alice.is_active = True
    alice.save(update_fields=["is_active"])
    assert read(feed).status_code == 200
    revoke_access_of_others(alice)
    assert read(feed).status_code == 404


def test_secret_is_not_logged(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = make_feed(api)
    secret = path_of(feed).removeprefix("/calendar/").removesuffix(".ics")
    lines: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(leak_detector, "scan_log_line", lines.append)
        text_of(feed)
        api.ok("POST", f"{FEEDS}/{feed['id']}/rotate")
        assert read(feed).status_code == 404
    assert lines
    assert not [line for line in lines if secret in line]


def test_feed_is_304_until_the_data_or_the_day_changes(api: Client, ada: Person) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        feed = make_feed(api)
        etag = read(feed)["ETag"]
        assert read(feed, HTTP_IF_NONE_MATCH=f"W/{etag}").status_code == 304
        api.ok("PUT", f"/api/people/{ada.pk}", {"surname": "Lovelace"})
        response = read(feed, HTTP_IF_NONE_MATCH=etag)
        assert response.status_code == 200
        clock.shift(24 * 3600)
        assert read(feed, HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 200


SHAPES: list[dict[str, Any]] = [
    {"reminder_enabled": False},
    {"type": "BIRTHDAY", "reminder_enabled": True, "reminder_type": ReminderType.ONCE},
    *(
        {
            "type": None,
            "reminder_enabled": True,
            "reminder_type": ReminderType.RECURRING,
            "reminder_interval_unit": unit,
            "reminder_interval": interval,
        }
        for unit, interval in itertools.product(Unit, (1, 2, 5, 12))
    ),
    {"type": None, "reminder_enabled": True, "reminder_type": ReminderType.ONCE},
]
DAYS = ["2000-02-29", "1996-02-29", "2001-01-31", "1990-03-30", "2010-08-29", "2027-12-31", "1815-12-10", "2028-02-29"]


# By default half of the combinations: every pair of a day, a shape and a year's being known. TEST_ROUNDS=2 runs all.
COMBINATIONS = [
    (day, shape, unknown)
    for (d, day), (s, shape), unknown in itertools.product(enumerate(DAYS), enumerate(SHAPES), (False, True))
    if (d + s + unknown) % 2 < rounds(1)
]


@pytest.fixture
def calendar(alice: User) -> None:
    """Create dates of every shape, with and without a year."""
    for day, shape, unknown in COMBINATIONS:
        person = make_person(alice, name=f"Person of {day}", surname="Ada, the 1st; \\ \n Countess")
        date = f"1604{day[4:]}" if unknown else day
        ahead = dt.date(2026, 12, 31) if unknown and shape.get("reminder_type") == ReminderType.ONCE else None
        add_date(person, date, year_unknown=unknown, next_occurrence_on=ahead, **{"title": "Met", **shape})


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("zone", "now", "leap_day"),
    [
        ("Pacific/Kiritimati", "2026-02-28T13:00:00Z", LeapDayRule.FEB28),
        ("UTC", "2028-02-28T12:00:00Z", LeapDayRule.MAR1),
    ],
)
def test_recurrence_rules_equal_the_services_dates_for_five_years(
    api: Client, alice: User, calendar: None, leap_day: LeapDayRule, zone: str, now: str
) -> None:
    User.objects.filter(pk=alice.pk).update(leap_day_rule=leap_day, time_zone=zone)
    alice.refresh_from_db()
    with time_machine.travel(now, tick=False):
        feed = make_feed(api, kinds=["important_date"])
        today = dt.datetime.now(dt.UTC).date() + dt.timedelta(1 if zone != "UTC" else 0)
        end = today + dt.timedelta(5 * 366)
        listed = upcoming_events(alice, start=today, days=5 * 366, limit=100_000).events
        expected = {(row["id"], row["date"]) for row in listed}
        events = recurring_events(feed)
        found = {
            (event.uid.value.removeprefix("date-"), day.isoformat())
            for event in events
            for day in days_of(event, today, end)
        }
    assert found == expected
    assert len(events) == len(COMBINATIONS)


def test_recurrence_rules_are_as_documented(api: Client, ada: Person, alice: User, clock: Any) -> None:
    add_date(ada, "2000-02-29")
    feed = make_feed(api)
    assert recurring_events(feed)[0].rrule.value == "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"
    api.ok("PUT", "/api/user/leap-day-rule", {"leapDayRule": "MAR1"})
    assert recurring_events(feed)[0].rrule.value == "FREQ=YEARLY;BYYEARDAY=60"
    once = {"type": None, "title": "Exam", "reminder_enabled": True, "reminder_type": "ONCE"}
    add_date(ada, "2026-05-04", **once)
    assert [hasattr(event, "rrule") for event in recurring_events(feed)] == [True, False]


def test_next_five_occurrences_have_an_age_if_the_year_is_known(api: Client, ada: Person, clock: Any) -> None:
    add_date(ada, "1990-05-04")
    add_date(make_person(ada.owner, name="Eve"), "1604-05-05", year_unknown=True)
    feed = make_feed(api)
    [birthday, other] = recurring_events(feed)
    assert birthday.summary.value == "Birthday: Ada"
    assert other.dtstart.value == dt.date(2000, 5, 5)
    assert overridden_summaries(feed) == {dt.date(2026 + n, 5, 4): f"Birthday: Ada · turns {36 + n}" for n in range(5)}
    assert {event.uid.value for event in events_of(feed)} == {birthday.uid.value, other.uid.value}


def test_alarms_are_at_the_reminder_hour_of_day_and_advance_notice(api: Client, ada: Person, clock: Any) -> None:
    reminder = {"reminder_enabled": True, "reminder_type": "RECURRING"}
    add_date(ada, "1990-05-04", **reminder, reminder_lead_days=7, extra_lead_days=[1, 7])
    add_date(ada, "1990-05-05", type="NAMEDAY", **reminder, reminder_lead_days=0)
    add_date(ada, "1990-05-06", type="MEMORIAL")
    feed = make_feed(api)
    found = [[alarm.trigger.value for alarm in getattr(event, "valarm_list", [])] for event in recurring_events(feed)]
    nine, week, eve = (dt.timedelta(days=days, hours=9) for days in (0, -7, -1))
    assert found == [[nine, week, eve], [nine], []]
    assert all(
        len(event.valarm_list) == 3
        for event in events_of(feed)
        if event.uid.value == recurring_events(feed)[0].uid.value
    )
    api.ok("PUT", "/api/user/reminder-hour", {"hour": 0})
    assert "TRIGGER:PT0S\r\n" in text_of(feed)
    assert "TRIGGER:-P7D\r\n" in text_of(feed)
    api.ok("PUT", f"{FEEDS}/{feed['id']}", {"alarms": False})
    assert "VALARM" not in text_of(feed)


def test_overdue_contact_reminders_are_shown_today(api: Client, alice: User, clock: Any) -> None:
    for name, last in (("Due", "2026-02-20"), ("Late", "2024-01-01")):
        make_person(
            alice,
            name=name,
            last_contact=dt.date.fromisoformat(last),
            contact_reminder_enabled=True,
            contact_reminder_interval=1,
            contact_reminder_interval_unit="MONTHS",
        )
    make_person(alice, name="Off")
    feed = make_feed(api)
    found = {event.summary.value: event.dtstart.value for event in recurring_events(feed)}
    assert found == {"Get in touch with Due": dt.date(2026, 3, 20), "Get in touch with Late": TODAY}
    assert not any(hasattr(event, "rrule") for event in events_of(feed))
    assert len(events_of(make_feed(api, kinds=["important_date"]))) == 0


def test_groups_filter_the_feed_even_if_one_is_deleted(api: Client, ada: Person, clock: Any) -> None:
    group = Group.objects.create(owner=ada.owner, name="Friends", name_key="friends", color="#000000")
    Membership.objects.create(owner=ada.owner, person=ada, group=group)
    add_date(ada, "1990-05-04")
    add_date(make_person(ada.owner, name="Eve"), "1990-05-04")
    feed = make_feed(api, groupIds=[str(group.pk)])
    assert [event.summary.value for event in recurring_events(feed)] == ["Birthday: Ada"]
    api.ok("DELETE", f"/api/groups/{group.pk}")
    assert recurring_events(feed) == []


def test_deleted_people_and_dates_are_not_in_the_feed(api: Client, ada: Person, mallory: User) -> None:
    add_date(ada, "1990-05-04")
    add_date(make_person(mallory, name="Foreign"), "1990-05-04")
    feed = make_feed(api)
    assert len(recurring_events(feed)) == 1
    api.ok("DELETE", f"/api/people/{ada.pk}")
    assert recurring_events(feed) == []


def test_feed_is_in_its_own_language_or_the_accounts(api: Client, ada: Person, clock: Any) -> None:
    add_date(ada, "1990-05-04")
    own, other = make_feed(api), make_feed(api, language="de-DE")
    assert recurring_events(other)[0].summary.value == "Geburtstag: Ada"
    assert overridden_summaries(other)[dt.date(2026, 5, 4)] != overridden_summaries(own)[dt.date(2026, 5, 4)]
    api.ok("PUT", "/api/user/language", {"language": "de-DE"})
    assert recurring_events(own)[0].summary.value == "Geburtstag: Ada"


@pytest.mark.both_databases
def test_hostile_names_are_escaped(api: Client, alice: User) -> None:
    name = 'Eve\nEND:VEVENT\r\nBEGIN:VALARM; \\n ,;:"' + "ü" * 60
    person = make_person(alice, name=name[:100])
    add_date(person, "1990-05-04", type=None, title="\u2028END:VCALENDAR,;")
    User.objects.filter(pk=alice.pk).update(name_display_format=NameDisplayFormat.SHORT)
    [event] = Calendar.from_ical(text_of(make_feed(api, name="a\nb;c,d"))).subcomponents[:1]
    assert (event.name, event.subcomponents) == ("VEVENT", [])
    assert event["summary"] == " ".join(f"END:VCALENDAR,;: {name[:100]}".split())


def test_number_of_statements_does_not_grow_with_the_events(api: Client, alice: User) -> None:
    feed = make_feed(api)
    counts = []
    for number in (1, 49):
        for index in range(number):
            add_date(make_person(alice, name=f"Person {index}", contact_reminder_enabled=True), "1990-05-04")
        text_of(feed)
        with CaptureQueriesContext(connection) as queries:
            text_of(feed)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4
