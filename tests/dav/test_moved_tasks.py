"""A task that a device moves to a later day: its reminder comes on that day, once (open points, section 14)."""

import datetime as dt
from typing import Any

import pytest

from accounts.models import User
from dav.models import TaskSnooze
from notifications.models import ReminderAnswer
from tests.client import Client
from tests.dav.devices import Device, signed_in
from tests.dav.test_calendars import due, interactions, make_friend, path, put, served, statuses, sync, with_line
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_reminders import CONTACT, run_each
from tests.notifications.test_upcoming_reminders import short, upcoming
from tests.queries import count_queries

# The clock stands at noon on 1 March 2026.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> RecordingChannel:
    recording = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (recording,))
    return recording


@pytest.fixture
def api(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def device(alice: User) -> Device:
    return Device(alice)


def move(device: Device, person_id: str, day: str, **headers: str) -> int:
    text = served(device, person_id)
    moved = with_line(text, f"DUE;VALUE=DATE:{day}").split("\r\n")
    kept = [line for line in moved if not line.startswith("DUE") or line.endswith(day)]
    where = path(device, "keep-in-touch", f"{person_id}.ics")
    response = device.call("PUT", where, "\r\n".join(kept), content_type="text/calendar", **headers)
    assert "ETag" not in response
    return int(response.status_code)


def etag(device: Device, person_id: str) -> str:
    return str(device.call("GET", path(device, "keep-in-touch", f"{person_id}.ics"))["ETag"])


def contacts(api: Client, days: int) -> list[tuple[Any, ...]]:
    return [entry for entry in short(upcoming(api, days)) if entry[0] == CONTACT]


def at_nine(day: str) -> str:
    return f"2026-{day}T09:00:00.000Z"


def test_a_later_due_snoozes_to_that_day_and_the_reminder_comes_once(
    api: Client, device: Device, channel: RecordingChannel
) -> None:
    person_id = make_friend(api, "Ann", "2026-02-15")
    other = Device(device.user)
    token = sync(other, "keep-in-touch").token
    assert due(device, person_id) == dt.date(2026, 3, 15)
    assert contacts(api, 40) == [(CONTACT, "2026-03-15", at_nine("03-15"), None)]
    assert move(device, person_id, "20260325") == 204
    assert contacts(api, 40) == [(CONTACT, "2026-03-15", at_nine("03-25"), "snoozed")]
    assert due(device, person_id) == dt.date(2026, 3, 25)
    assert statuses(other, "keep-in-touch", sync(other, "keep-in-touch", token)) == {person_id: 200}
    assert interactions(api, person_id) == []
    run_each(*(f"2026-03-{day}T09:00:00Z" for day in ("15", "24")))
    assert channel.sent_notices == []
    run_each(*(f"2026-03-{day}T09:00:00Z" for day in ("25", "25", "26")))
    assert channel.sent_notices == [(CONTACT, "2026-03-15")]
    # Afterwards the task is where the device put it, and the reminder goes on as ever.
    assert due(device, person_id) == dt.date(2026, 3, 25)
    run_each("2026-04-15T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-03-15"), (CONTACT, "2026-04-15")]


def test_an_overdue_task_is_moved_and_reminders_in_between_are_skipped(
    api: Client, device: Device, channel: RecordingChannel
) -> None:
    reminder = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "WEEKS"}
    body = {"name": "Ann", "lastContact": "2026-02-10", **reminder}
    person_id = str(api.ok("POST", "/api/people", body, status=201)["person"]["id"])
    assert due(device, person_id) == dt.date(2026, 2, 17)
    assert [day for _, day, *_ in contacts(api, 25)] == ["2026-03-03", "2026-03-10", "2026-03-17", "2026-03-24"]
    assert move(device, person_id, "20260317") == 204
    assert sorted(contacts(api, 25), key=str) == sorted(
        [
            (CONTACT, "2026-03-10", None, "skipped"),
            (CONTACT, "2026-03-17", None, "skipped"),
            (CONTACT, "2026-03-03", at_nine("03-17"), "snoozed"),
            (CONTACT, "2026-03-24", at_nine("03-24"), None),
        ],
        key=str,
    )
    run_each(*(f"2026-03-{day}T09:00:00Z" for day in ("03", "10", "17", "18", "24")))
    assert channel.sent_notices == [(CONTACT, "2026-03-03"), (CONTACT, "2026-03-24")]


@pytest.mark.both_databases
def test_a_move_over_many_reminders_costs_no_more_statements(api: Client, device: Device) -> None:
    reminder = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "DAYS"}
    body = {"name": "Ann", "lastContact": "2026-02-27", **reminder}
    person_id = str(api.ok("POST", "/api/people", body, status=201)["person"]["id"])
    few = count_queries(move, device, person_id, "20260304")
    many = count_queries(move, device, person_id, "20261201")
    assert ReminderAnswer.objects.owned_by(device.user).count() > 250
    assert many <= few + 3


@pytest.mark.both_databases
def test_moved_again_and_back(api: Client, device: Device, channel: RecordingChannel) -> None:
    person_id = make_friend(api, "Ann", "2026-02-15")
    old = served(device, person_id)
    assert move(device, person_id, "20260420") == 204
    assert contacts(api, 60)[-1] == (CONTACT, "2026-03-15", at_nine("04-20"), "snoozed")
    # A program with the task of before does not move it back: it has not seen the other day.
    assert put(device, f"{person_id}.ics", old).status_code == 204
    assert due(device, person_id) == dt.date(2026, 4, 20)
    # One that has seen it does.
    assert move(device, person_id, "20260401", HTTP_IF_MATCH=etag(device, person_id)) == 204
    assert due(device, person_id) == dt.date(2026, 4, 1)
    assert contacts(api, 60) == [
        (CONTACT, "2026-03-15", at_nine("04-01"), "snoozed"),
        (CONTACT, "2026-04-15", at_nine("04-15"), None),
    ]
    assert move(device, person_id, "20260315", HTTP_IF_MATCH=etag(device, person_id)) == 204
    assert due(device, person_id) == dt.date(2026, 3, 15)
    assert contacts(api, 20) == [(CONTACT, "2026-03-15", at_nine("03-15"), None)]
    assert not TaskSnooze.objects.owned_by(device.user).exists()
    assert not ReminderAnswer.objects.owned_by(device.user).exists()


def test_a_tick_ends_the_snooze_and_taking_it_back_restores_it(
    api: Client, device: Device, channel: RecordingChannel
) -> None:
    person_id = make_friend(api, "Ann", "2026-02-15")
    move(device, person_id, "20260325")
    before = served(device, person_id)
    put(device, f"{person_id}.ics", with_line(before, "STATUS:COMPLETED"))
    assert due(device, person_id) == dt.date(2026, 4, 1)
    assert contacts(api, 40) == [(CONTACT, "2026-04-01", at_nine("04-01"), None)]
    put(device, f"{person_id}.ics", before)
    assert interactions(api, person_id) == []
    assert due(device, person_id) == dt.date(2026, 3, 25)
    assert (CONTACT, "2026-03-15", at_nine("03-25"), "snoozed") in contacts(api, 40)
    # In touch elsewhere: nothing is left of the snooze.
    api.ok("PUT", f"/api/people/{person_id}", {"lastContact": "2026-03-01"})
    assert due(device, person_id) == dt.date(2026, 4, 1)
    run_each("2026-03-25T09:00:00Z", "2026-04-01T09:00:00Z")
    assert channel.sent_notices == [(CONTACT, "2026-04-01")]


def test_a_day_that_is_past_or_too_far(api: Client, device: Device, channel: RecordingChannel) -> None:
    person_id = make_friend(api, "Ann", "2025-12-15")
    assert due(device, person_id) == dt.date(2026, 1, 15)
    # From one day that is over to another: the task says so, and nobody is reminded at once.
    assert move(device, person_id, "20260220") == 204
    assert due(device, person_id) == dt.date(2026, 2, 20)
    assert contacts(api, 20) == [(CONTACT, "2026-03-15", at_nine("03-15"), None)]
    assert move(device, person_id, "99991231") == 403
    api.ok("PUT", f"/api/people/{person_id}", {"contactReminderInterval": 1, "contactReminderIntervalUnit": "DAYS"})
    assert move(device, person_id, "20280301") == 403
    assert move(device, person_id, "20270301") == 204
    reader = Device(device.user, "READ")
    assert move(reader, person_id, "20270401") == 403
