"""People with a date of death: no reminders of their birthday, nor to contact them."""

import orjson
import pytest
from django.core.management import call_command

from accounts.models import User
from notifications.channels import channels
from notifications.channels.push import payload_of
from notifications.channels.webhook import body_of
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.wording import wording_of
from people.models import Person
from tests.client import Client
from tests.loopback import Recorder
from tests.notifications.notices import make_notice
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_destinations import create
from tests.notifications.test_quiet_hours import remind, run, set_quiet_hours

TOMORROW, THREE_DAYS, SKIP = "Again tomorrow", "Again in 3 days", "Not this time"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]


def test_dead_people_have_a_memorial_and_no_birthday(api: Client, ada: Person, channel: RecordingChannel) -> None:
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
    assert {event["title"]: event["turns"] for event in events} == {"Birthday": None, "Memorial day": 6}
    call_command("deliver_reminders", "--now", "2026-05-04T09:00:00Z")
    assert [delivery.notice.content.get("type") for delivery in channel.sent] == ["MEMORIAL"]
    api.ok("PUT", path, {"deathday": None})
    call_command("deliver_reminders", "--now", "2027-05-04T09:00:00Z")
    assert {delivery.notice.content.get("type") for delivery in channel.sent[1:]} == {"BIRTHDAY", "MEMORIAL", None}


@pytest.fixture(params=[NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD])
def memorial(request: pytest.FixtureRequest, alice: User) -> Notice:
    return make_notice(alice, request.param, type="MEMORIAL", turns=6)


def test_dead_people_have_no_contact_reminder(memorial: Notice) -> None:
    assert [one.label for one in wording_of(memorial).buttons] == ["Open", TOMORROW, THREE_DAYS, SKIP]
    told = [orjson.loads(body) for body in (body_of(memorial), payload_of(memorial))]
    assert [one["label"] for one in told[0]["data"]["actions"]] == [TOMORROW, THREE_DAYS, SKIP]
    assert [one["label"] for one in told[1]["actions"]] == [TOMORROW, THREE_DAYS]


def test_ntfy_shows_the_remaining_actions(api: Client, memorial: Notice, ntfy: Recorder) -> None:
    topic = create(api, type="NTFY", url=f"{ntfy.url}/push/days")["endpoint"]["id"]
    ntfy.received.clear()
    assert channels()["ntfy"].send(topic, memorial).is_ok
    (request,) = ntfy.received
    assert [button["label"] for button in orjson.loads(request.body)["actions"]] == [TOMORROW, SKIP]


def test_memorials_respect_quiet_hours_and_lead_days(api: Client, ada: Person, channel: RecordingChannel) -> None:
    set_quiet_hours(api, "22:00", "07:00", hour=6)
    api.ok("PUT", f"/api/people/{ada.pk}", {"deathday": "2020-05-04"})
    memorial = {"type": "MEMORIAL", "title": None, "extraLeadDays": [3], "reminderLeadDays": 7}
    remind(api, ada, "2020-05-04", **memorial)
    days = ("2026-04-27", "2026-05-01", "2026-05-04")
    run(*(f"{day}T06:30:00Z" for day in days[:1]))
    assert channel.sent == []
    run(*(f"{day}T07:00:00Z" for day in days))
    assert [sent.notice.content["daysUntil"] for sent in channel.sent] == [7, 3, 0]
