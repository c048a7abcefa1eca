"""Nobody is reminded of the birthday of the dead, nor to get in touch with them."""

import pytest
from django.core.management import call_command

from people.models import Person
from tests.client import Client
from tests.notifications.recording_channel import RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]


def test_the_dead_have_a_memorial_and_no_birthday(api: Client, ada: Person, channel: RecordingChannel) -> None:
    path = f"/api/people/{ada.pk}"
    dates = [
        {"type": "BIRTHDAY", "date": "1950-05-04", "reminderEnabled": True},
        {"type": "MEMORIAL", "date": "2020-05-04", "reminderEnabled": True},
    ]
    contact = {"contactReminderEnabled": True, "contactReminderIntervalUnit": "DAYS"}
    api.ok("PUT", path, {"importantDates": dates, **contact, "deathday": "2020-05-04"})
    lines = api.ok("GET", "/api/reminders/upcoming?days=70")["reminders"]
    assert [(line["type"], line["reason"]) for line in lines if line["importantDateId"]] == [
        ("BIRTHDAY", "deceased"),
        ("MEMORIAL", None),
    ]
    events = api.ok("GET", "/api/upcoming?days=70")["events"]
    assert {event["title"]: event["turns"] for event in events} == {"BIRTHDAY": None, "MEMORIAL": 6}
    call_command("deliver_reminders", "--now", "2026-05-04T09:00:00Z")
    assert [delivery.notice.content.get("type") for delivery in channel.sent] == ["MEMORIAL"]
    api.ok("PUT", path, {"deathday": None})
    call_command("deliver_reminders", "--now", "2027-05-04T09:00:00Z")
    assert {delivery.notice.content.get("type") for delivery in channel.sent[1:]} == {"BIRTHDAY", "MEMORIAL", None}
