"""Runs with --now for past and future instants, in any order, next to a worker that uses the clock."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from notifications import tasks
from notifications.models import Delivery, DigestSchedule
from notifications.services import dispatch
from people.models import ImportantDate, Person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, RecordingChannel
from tests.notifications.test_reminders import CONTACT, DAY, LEAD, remind, run, run_each

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock"), pytest.mark.sqlite_suffices]
MONDAY, WEDNESDAY, SUNDAY = 1, 3, 0


def run_worker(channel: RecordingChannel) -> int:
    """Do what the worker does each minute; returns the number of notices that were sent."""
    before = len(channel.sent)
    dispatch.scan(now=timezone.now())
    batches: list[tuple[str, ...]] = []
    dispatch.enqueue_due(lambda *ids: batches.append(ids))
    for ids in batches:
        tasks.send(*ids)
    return len(channel.sent) - before


def digests(*instants: str) -> None:
    for moment in instants:
        call_command("send_digests", "--now", moment)


def test_future_instants_may_be_run_in_any_order(api: Client, ada: Person, channel: RecordingChannel) -> None:
    for month in (4, 5, 6):
        remind(api, ada, f"1990-{month:02}-10")
    body = {"name": "Bob", "lastContact": "2026-02-20", "contactReminderEnabled": True}
    api.ok("post", "/api/people", body, status=201)
    run_each("2027-06-10T09:00:00Z", "2026-04-10T09:00:00Z", "2026-06-10T09:00:00Z", "2026-05-10T09:00:00Z")
    run_each("2026-04-20T09:00:00Z", "2026-03-20T09:00:00Z", "2026-04-10T09:00:00Z", "2026-06-10T09:00:00Z")
    assert channel.sent_notices == [
        (DAY, "2027-06-10"),
        (DAY, "2026-04-10"),
        (DAY, "2026-06-10"),
        (DAY, "2026-05-10"),
        (CONTACT, "2026-04-20"),
        (CONTACT, "2026-03-20"),
    ]
    assert not any(sent.notice.content["late"] for sent in channel.sent)


def test_day_may_be_run_before_its_advance_notice(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-05-10", reminderLeadDays=7)
    run_each("2026-05-10T09:00:00Z", "2026-05-03T09:00:00Z", "2026-05-10T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-05-10"), (LEAD, "2026-05-10")]


@pytest.mark.both_databases
def test_run_for_another_instant_does_not_change_the_schedule(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    date_id = remind(api, ada, "1990-03-10")
    remind(api, ada, "1990-05-10")
    before = (ImportantDate.unscoped.get(pk=date_id).next_due_at, api.ok("get", "/api/reminders/upcoming?days=366"))
    run_each("2028-06-01T09:00:00Z", "2025-06-01T09:00:00Z", "2026-05-10T09:00:00Z")
    after = (ImportantDate.unscoped.get(pk=date_id).next_due_at, api.ok("get", "/api/reminders/upcoming?days=366"))
    assert after == before
    clock.move_to("2026-03-10T09:00:00Z")
    assert run_worker(channel) == 1
    clock.move_to("2026-05-10T09:00:00Z")
    assert run_worker(channel) == 0, "it was sent by the run for that moment"
    assert channel.sent_notices == [(DAY, "2026-05-10"), (DAY, "2026-03-10")]


@pytest.mark.both_databases
def test_run_for_this_morning_in_the_afternoon(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-03-01")
    run("2026-03-01T08:59:00Z")
    assert channel.sent_notices == []
    run("2026-03-01T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-03-01")]
    assert channel.sent[0].notice.content["late"] is False
    assert run_worker(channel) == 0


@pytest.mark.both_databases
def test_run_for_this_morning_does_not_repeat_what_was_sent(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    remind(api, ada, "1990-03-01")
    assert run_worker(channel) == 1
    run_each("2026-03-01T09:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T15:00:00Z")
    assert len(channel.sent) == 1


@pytest.mark.both_databases
def test_worker_does_not_send_deliveries_planned_for_the_past(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    remind(api, ada, "1990-01-15")
    channel.outcomes = [DOWN]
    run("2026-01-15T09:00:00Z")
    for _ in range(3):
        assert run_worker(channel) == 0
        clock.shift(600)
    assert Delivery.unscoped.get().state == "pending"
    run("2026-01-15T09:02:00Z")
    assert [sent.outcome.is_ok for sent in channel.sent] == [False, True]


def test_history_shows_deliveries_of_a_run_for_the_past(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-05-04")
    run("2025-05-04T09:00:00Z")
    (row,) = api.ok("get", "/api/notifications/deliveries")["deliveries"]
    assert (row["date"], row["status"]) == ("2025-05-04", "sent")
    call_command("purge_deleted")
    assert Delivery.unscoped.count() == 1


@pytest.mark.both_databases
def test_missed_delivery_does_not_break_a_run_for_its_day(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    remind(api, ada, "1990-03-01")
    remind(api, ada, "1990-03-02")
    dispatch.scan(now=timezone.now())
    clock.move_to("2026-03-06T12:00:00Z")
    run_worker(channel)
    assert set(Delivery.unscoped.values_list("code", flat=True)) == {"missed"}
    run("2026-03-02T09:00:00Z")
    assert channel.sent_notices == [(DAY, "2026-03-02")]


def add_events(api: Client, person: Person) -> None:
    body = {"title": "Daily", "date": "2020-01-01", "reminderEnabled": True, "reminderInterval": 1}
    api.ok("post", f"/api/people/{person.pk}/important-dates", {**body, "reminderIntervalUnit": "DAYS"})


def switch(api: Client, weekday: int) -> None:
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": weekday})


def occurrences() -> list[str]:
    rows = Delivery.unscoped.filter(kind="digest.weekly").order_by("id")
    return [str(day) for day in rows.values_list("occurrence_on", flat=True)]


@pytest.mark.both_databases
def test_digests_may_be_run_for_instants_in_any_order(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    add_events(api, ada)
    switch(api, MONDAY)
    digests("2027-06-07T09:00:00Z", "2027-03-01T09:00:00Z", "2026-03-02T08:59:00Z", "2025-03-03T09:00:00Z")
    digests("2027-06-07T09:00:00Z", "2027-03-01T09:00:00Z")
    assert occurrences() == ["2027-06-07", "2027-03-01", "2025-03-03"]
    assert DigestSchedule.objects.get().next_on == dt.date(2026, 3, 2)
    clock.move_to("2026-03-02T09:00:00Z")
    run_worker(channel)
    assert occurrences() == ["2027-06-07", "2027-03-01", "2025-03-03", "2026-03-02"]


@pytest.mark.parametrize("weekday", range(7))
def test_future_week_has_one_digest_on_its_weekday(
    api: Client, ada: Person, channel: RecordingChannel, weekday: int
) -> None:
    add_events(api, ada)
    switch(api, weekday)
    monday = dt.datetime(2027, 6, 7, 9, tzinfo=dt.UTC)
    for day in range(7):
        moment = monday + dt.timedelta(day)
        before = len(channel.sent)
        digests(moment.isoformat())
        assert len(channel.sent) - before == (moment.isoweekday() % 7 == weekday)


@pytest.mark.both_databases
def test_missed_digest_is_caught_up_in_the_next_week(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add_events(api, ada)
    switch(api, WEDNESDAY)
    digests("2027-06-09T09:00:00Z", "2027-06-18T09:00:00Z", "2027-06-19T09:00:01Z")
    assert occurrences() == ["2027-06-07", "2027-06-14"]
    assert [sent.notice.content["late"] for sent in channel.sent] == [False, True]


def test_event_added_later_is_in_a_digest_run_for_an_earlier_instant(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    switch(api, SUNDAY)
    digests("2027-06-06T09:00:00Z")
    assert channel.sent == []
    add_events(api, ada)
    digests("2027-06-06T09:00:00Z")
    assert len(channel.sent) == 1
