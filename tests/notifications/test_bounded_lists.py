"""Lists whose entries are computed: only the nearest are built, however often the dates of an account recur."""

import datetime as dt
from collections import Counter
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from notifications.notices.wording import wording_of
from notifications.services import digests
from notifications.services.forecast import Forecast
from people.dates import schedule, upcoming
from people.dates.recurrence import Recurrence, ReminderRule
from people.models import ImportantDate
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

LISTS = {"/api/upcoming": "events", "/api/reminders/upcoming": "reminders"}


def add_daily_dates(owner: User, people: int, dates: int, **fields: Any) -> None:
    calendar, now, rows = schedule.load_calendar(owner), timezone.now(), []
    values = {"reminder_enabled": True, "reminder_type": "RECURRING", "reminder_interval": 1, **fields}
    for number in range(people):
        person = make_person(owner, name=f"Person {number}")
        for title in range(dates):
            row = ImportantDate(
                owner=owner,
                person=person,
                title=str(title),
                date=dt.date(2020, 1, 1),
                **{"reminder_interval_unit": "DAYS", **values},
            )
            schedule.schedule_date(row, calendar, now)
            rows.append(row)
    ImportantDate.objects.bulk_create(rows)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the entries that are built, and the occurrences and reminders that are computed."""
    counts: Counter[str] = Counter()

    def count(of: Any, name: str) -> None:
        original = getattr(of, name)

        def counting(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(of, name, counting)

    count(upcoming, "_build_event")
    count(Forecast, "_entry")
    count(Recurrence, "nth")
    count(ReminderRule, "following")
    return counts


@pytest.mark.parametrize("path", LISTS)
def test_no_more_is_built_than_the_limit(alice: User, api: Client, computed: Counter[str], path: str) -> None:
    add_daily_dates(alice, people=10, dates=10)
    answer = api.ok("get", f"{path}?days=366&limit=50")
    assert (len(answer[LISTS[path]]), answer["hasMore"]) == (50, True)
    assert computed["_build_event"] + computed["_entry"] == 50
    # Of 36,700 occurrences. Each of the 100 dates needs a few steps to find its first.
    assert computed["nth"] <= 100 * 30
    assert computed["following"] <= 100 * 6


@pytest.mark.parametrize("path", LISTS)
def test_the_nearest_come_first_and_the_default_is_500(alice: User, api: Client, path: str) -> None:
    add_daily_dates(alice, people=2, dates=1)
    answer = api.ok("get", f"{path}?days=366")
    shown = answer[LISTS[path]]
    assert (len(shown), answer["hasMore"]) == (500, True)
    assert [entry["date"] for entry in shown] == sorted(entry["date"] for entry in shown)
    whole = api.ok("get", f"{path}?days=366&limit=1000")
    assert (whole[LISTS[path]][:500], whole["hasMore"]) == (shown, False)
    fits = len(whole[LISTS[path]])
    for limit, has_more in ((fits, False), (fits - 1, True)):
        cut = api.ok("get", f"{path}?days=366&limit={limit}")
        assert (cut[LISTS[path]], cut["hasMore"]) == (whole[LISTS[path]][:limit], has_more)


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("limit", ["0", "1001", "x", "-1", "1.5", "", "٣", "99999999999"])
def test_a_limit_is_a_number_from_1_to_1000(api: Client, path: str, limit: str) -> None:
    response = api.ok("get", f"{path}?limit={limit}", status=400)
    assert response["details"][0]["field"] == "limit"


def test_events_are_counted_without_computing_each(alice: User, api: Client, computed: Counter[str]) -> None:
    add_daily_dates(alice, people=1, dates=20)
    assert api.ok("get", "/api/dashboard/stats")["upcomingEvents"] == 20 * 31
    assert computed["nth"] <= 20 * 8
    assert computed["_build_event"] == 0


def test_days_without_event_are_found_for_the_digest_without_all_occurrences(
    alice: User, api: Client, computed: Counter[str], channel: RecordingChannel
) -> None:
    channel.on = {"one": None}
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    add_daily_dates(alice, people=10, dates=10)
    shown = api.ok("get", "/api/reminders/upcoming?days=366&limit=1")
    assert shown["hasMore"]
    # The digests alone need a step for each week; the first date has an event in all of them.
    assert computed["nth"] <= 100 * 10 + 53 * 10
    assert computed["_entry"] == 1


def test_a_digest_holds_the_nearest_events(
    alice: User, monkeypatch: pytest.MonkeyPatch, computed: Counter[str]
) -> None:
    monkeypatch.setattr(digests, "MAX_DIGEST_EVENTS", 5)
    add_daily_dates(alice, people=3, dates=2)
    found = digests.digest_events(alice, dt.date(2026, 3, 1))
    assert ([event["date"] for event in found.events], found.has_more) == (["2026-03-01"] * 5, True)
    assert computed["_build_event"] == 5


def test_a_long_digest_says_that_there_are_more(
    alice: User, api: Client, channel: RecordingChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel.on = {"one": None}
    monkeypatch.setattr(digests, "MAX_DIGEST_EVENTS", 5)
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    add_daily_dates(alice, people=3, dates=2)
    call_command("send_digests", "--now", "2026-03-02T09:00:00Z")
    notice = channel.sent[0].notice
    assert (len(notice.content["events"]), notice.content["hasMore"]) == (5, True)
    assert wording_of(notice).title == "More than 5 events in the coming week"
