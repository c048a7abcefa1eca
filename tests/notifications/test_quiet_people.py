"""Nobody is reminded of quiet people; their reminders stay set, and go on when they are quiet no longer."""

from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_actions import links, submit_action
from tests.notifications.test_quiet_hours import remind, run, set_quiet_hours

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]  # noon of Sunday, 1 March 2026

CONTACT = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}


def hush(api: Client, person: Person, *, quiet: bool = True) -> None:
    api.ok("PUT", f"/api/people/{person.pk}", {"quiet": quiet})


def forecast(api: Client, days: int = 60) -> list[tuple[Any, ...]]:
    lines = api.ok("GET", f"/api/reminders/upcoming?days={days}")["reminders"]
    return [(line["kind"], line["date"], line["willSend"], line["reason"]) for line in lines]


def test_their_reminders_stay_set_unsent_and_go_on(api: Client, ada: Person, channel: RecordingChannel) -> None:
    remind(api, ada, "1990-03-10", reminderLeadDays=3)
    api.ok("PUT", f"/api/people/{ada.pk}", {**CONTACT, "lastContact": "2026-02-20"})
    due = [
        ("reminder.important_date_lead", "2026-03-10"),
        ("reminder.important_date", "2026-03-10"),
        ("reminder.contact", "2026-03-20"),
        ("reminder.contact", "2026-04-20"),
    ]
    assert forecast(api) == [(*line, True, None) for line in due]
    hush(api, ada)
    assert sorted(forecast(api)) == sorted((*line, False, "quiet") for line in due)
    assert all(line["destinations"] == [] for line in api.ok("GET", "/api/reminders/upcoming?days=60")["reminders"])
    run("2026-03-07T09:00:00Z", "2026-03-10T09:00:00Z", "2026-03-20T09:00:00Z")
    assert channel.sent == []
    person = api.ok("GET", f"/api/people/{ada.pk}")["person"]
    assert person["contactReminderEnabled"] is person["importantDates"][0]["reminderEnabled"] is True
    hush(api, ada, quiet=False)
    run("2026-04-20T09:00:00Z", "2027-03-10T09:00:00Z")
    assert {kind for kind, _ in channel.sent_notices} == {kind for kind, _ in due}


def test_dates_without_reminder_say_why_too(api: Client, ada: Person, channel: RecordingChannel) -> None:
    api.ok("POST", f"/api/people/{ada.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-03-10"})
    assert forecast(api) == [("reminder.important_date", "2026-03-10", False, "reminder_off")]
    hush(api, ada)
    assert forecast(api) == [("reminder.important_date", "2026-03-10", False, "quiet")]
    api.ok("PUT", f"/api/people/{ada.pk}", {"deathday": "2026-01-01"})
    assert forecast(api) == [("reminder.important_date", "2026-03-10", False, "quiet")]
    hush(api, ada, quiet=False)
    assert forecast(api) == [("reminder.important_date", "2026-03-10", False, "deceased")]


def test_what_waits_for_the_end_of_the_night_is_not_sent(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=23)
    remind(api, ada, "1990-03-10")
    clock.move_to("2026-03-10T23:00:00Z")
    run("2026-03-10T23:00:00Z")
    assert forecast(api, 1) == [("reminder.important_date", "2026-03-10", True, None)]
    hush(api, ada)
    assert forecast(api, 1) == [("reminder.important_date", "2026-03-10", False, "quiet")]
    run("2026-03-11T07:00:00Z")
    assert channel.sent == []
    (delivery,) = api.ok("GET", "/api/notifications/deliveries")["deliveries"]
    assert (delivery["status"], delivery["code"]) == ("skipped", "quiet")


@pytest.mark.parametrize("change", [{"quiet": True}, {"deathday": "2026-03-02"}], ids=str)
def test_snoozed_reminders_are_not_sent(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any, change: dict[str, Any]
) -> None:
    api.ok("PUT", f"/api/people/{ada.pk}", {**CONTACT, "lastContact": "2026-02-02"})
    remind(api, ada, "1990-03-02", type="BIRTHDAY", title=None)
    clock.move_to("2026-03-02T09:00:00Z")
    run("2026-03-02T09:00:00Z")
    assert len(channel.sent) == 2
    for place in range(2):
        submit_action(Client(), links(channel, place)["snooze1"])
    assert [(line[2], line[3]) for line in forecast(api, 1)] == [(True, "snoozed")] * 2
    api.ok("PUT", f"/api/people/{ada.pk}", change)
    assert [line for line in forecast(api, 3) if line[2]] == []
    clock.move_to("2026-03-03T09:00:00Z")
    run("2026-03-03T09:00:00Z")
    assert len(channel.sent) == 2


def test_a_digest_leaves_them_out(api: Client, alice: User, ada: Person, channel: RecordingChannel) -> None:
    bob = make_person(alice, name="Bob")
    for person in (ada, bob):
        api.ok("POST", f"/api/people/{person.pk}/important-dates", {"title": "Met", "date": "2000-03-03"})
    api.ok("PUT", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    hush(api, ada)
    call_command("send_digests", "--now", "2026-03-02T09:00:00Z")
    assert [event["personName"] for event in channel.sent[0].notice.content["events"]] == ["Bob"]
    hush(api, bob)
    call_command("send_digests", "--now", "2026-03-09T09:00:00Z")
    assert len(channel.sent) == 1
    found = [line for line in api.ok("GET", "/api/reminders/upcoming?days=9")["reminders"] if "digest" in line["kind"]]
    assert {line["reason"] for line in found} == {"no_events"}
