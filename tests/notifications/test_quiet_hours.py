"""Quiet hours: setting and showing them, and sending at their end what is due within."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from people.models import Person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, OK, RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

DAY, PATH = "reminder.important_date", "/api/user/quiet-hours"


def set_quiet_hours(api: Client, start: str, end: str, *, hour: int = 9, zone: str = "UTC") -> None:
    api.ok("put", PATH, {"from": start, "to": end})
    api.ok("put", "/api/user/reminder-hour", {"hour": hour})
    api.ok("put", "/api/user/timezone", {"timezone": zone})


def remind(api: Client, person: Person, date: str, **body: Any) -> None:
    sent = {"title": "Met", "date": date, "reminderEnabled": True, **body}
    api.ok("post", f"/api/people/{person.pk}/important-dates", sent)


def run(*instants: str, command: str = "deliver_reminders") -> None:
    for moment in instants:
        call_command(command, "--now", moment)


def test_quiet_hours_are_set_shown_and_removed(api: Client, alice: User) -> None:
    hours = {"from": "22:00", "to": "07:30"}
    assert api.ok("put", PATH, hours) == {"id": str(alice.pk), "quietHours": hours}
    (record,) = api.ok("get", "/api/changes?types=settings")["changes"]
    assert record["record"] == api.ok("get", "/api/user/profile")["user"]
    assert record["record"]["quietHours"] == hours
    assert api.ok("put", PATH, {"from": None, "to": None}) == {"id": str(alice.pk), "quietHours": None}
    assert api.ok("get", "/api/user/profile")["user"]["quietHours"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"from": "22:00", "to": "22:00"}, "to"),
        ({"from": "22:00", "to": None}, "to"),
        ({"from": None, "to": "07:00"}, "from"),
        ({"from": "22:00"}, "to"),
        ({"from": "24:00", "to": "07:00"}, "from"),
        ({"from": "7:00", "to": "22:00"}, "from"),
        ({"from": "22:00:00", "to": "07:00"}, "from"),
        ({"from": 22, "to": "07:00"}, "from"),
    ],
    ids=str,
)
def test_invalid_quiet_hours_are_refused(api: Client, body: dict[str, Any], field: str) -> None:
    assert [line["field"] for line in api.ok("put", PATH, body, status=400)["details"]] == [field]


def test_reminder_within_quiet_hours_is_sent_at_their_end(api: Client, ada: Person, channel: RecordingChannel) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=6)
    remind(api, ada, "1990-03-10")
    (entry,) = api.ok("get", "/api/reminders/upcoming?days=20")["reminders"]
    assert (entry["willSend"], entry["sendAt"]) == (True, "2026-03-10T07:00:00.000Z")
    run("2026-03-10T06:00:00Z", "2026-03-10T06:59:59Z")
    assert channel.sent_notices == []
    run("2026-03-10T07:00:00Z", "2026-03-10T07:01:00Z")
    assert channel.sent_notices == [(DAY, "2026-03-10")]
    assert (channel.sent[0].notice.content["daysUntil"], channel.sent[0].notice.content["late"]) == (0, False)


def test_delivery_delayed_past_midnight_expires_on_the_new_day(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=23, zone="Asia/Tokyo")
    remind(api, ada, "1990-03-10")
    clock.move_to("2026-03-10T14:00:00Z")
    run("2026-03-10T14:00:00Z")
    assert channel.sent_notices == []
    (entry,) = api.ok("get", "/api/reminders/upcoming?days=20")["reminders"]
    assert (entry["date"], entry["sendAt"]) == ("2026-03-10", "2026-03-10T22:00:00.000Z")
    run("2026-03-10T22:00:00Z")
    (sent,) = channel.sent
    assert (sent.notice.content["daysUntil"], sent.notice.content["late"]) == (-1, False)
    assert sent.notice.expires_at == dt.datetime(2026, 3, 11, 15, tzinfo=dt.UTC)


def test_delivery_is_checked_again_at_the_end_of_quiet_hours(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=23)
    remind(api, ada, "1990-03-10", type="BIRTHDAY", title=None)
    remind(api, ada, "1990-03-10")
    clock.move_to("2026-03-10T23:00:00Z")
    run("2026-03-10T23:00:00Z")
    assert len(api.ok("get", "/api/reminders/upcoming?days=1")["reminders"]) == 2
    api.ok("put", f"/api/people/{ada.pk}", {"name": "Ada", "deathday": "2026-03-10"})
    found = api.ok("get", "/api/reminders/upcoming?days=1")["reminders"]
    assert {entry["title"]: entry["reason"] for entry in found} == {"Met": None, "Birthday": "deceased"}
    run("2026-03-11T07:00:00Z")
    assert [sent.notice.content["title"] for sent in channel.sent] == ["Met"]


def test_late_runs_and_retries_wait_for_the_end_of_quiet_hours(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    """Neither a late run nor a retry sends within quiet hours."""
    remind(api, ada, "1990-03-10")
    set_quiet_hours(api, "09:01", "12:00")
    run("2026-03-10T09:30:00Z")
    assert channel.sent_notices == []
    channel.outcomes = [DOWN, OK]
    set_quiet_hours(api, "12:01", "08:00")
    run("2026-03-10T12:00:00Z", "2026-03-10T12:02:00Z", "2026-03-11T07:59:00Z")
    assert len(channel.sent) == 1
    run("2026-03-11T08:00:00Z")
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [0, -1]
    assert channel.sent[0].notice.id == channel.sent[1].notice.id


def test_quiet_hours_set_after_planning_apply(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-03-10")
    channel.outcomes = [DOWN]
    run("2026-03-10T09:00:00Z")
    set_quiet_hours(api, "09:01", "10:00")
    run("2026-03-10T09:02:00Z")
    assert len(channel.sent) == 1
    run("2026-03-10T10:00:00Z")
    assert len(channel.sent) == 2


def test_delayed_digest_is_of_the_day_on_which_it_is_sent(api: Client, ada: Person, channel: RecordingChannel) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=23)
    for date in ("2000-03-02", "2000-03-03", "2000-03-10"):
        api.ok("post", f"/api/people/{ada.pk}/important-dates", {"title": "Met", "date": date})
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    run("2026-03-02T23:00:00Z", command="send_digests")
    assert channel.sent == []
    run("2026-03-03T07:00:00Z", command="send_digests")
    assert [event["date"] for event in channel.sent[0].notice.content["events"]] == ["2026-03-03", "2026-03-10"]
