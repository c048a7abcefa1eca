"""GET /api/reminders/upcoming agrees with what is sent later, and gives the reason where nothing will be sent."""

import datetime as dt
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from accounts.models import User
from notifications.models import ReminderAnswer
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from notifications.services.digests import digest_events
from people.models import ImportantDate, Person
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import RecordingChannel

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db, pytest.mark.usefixtures("clock")]

DAY, LEAD = "reminder.important_date", "reminder.important_date_lead"


def add(api: Client, person: Person, date: str, **body: Any) -> Any:
    sent = {"title": "Met", "date": date, "reminderEnabled": True, **body}
    return api.ok("post", f"/api/people/{person.pk}/important-dates", sent)["importantDate"]


def upcoming(api: Client, days: int = 30) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("get", f"/api/reminders/upcoming?days={days}")["reminders"]
    return found


def short(entries: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(entry["kind"], entry["date"], entry["sendAt"], entry["reason"]) for entry in entries]


def test_upcoming_reminder_has_all_fields(api: Client, ada: Person, channel: RecordingChannel) -> None:
    channel.on = {"one": None, "two": "disabled"}
    date = add(api, ada, "1990-03-11", reminderLeadDays=7)
    lead, day = upcoming(api)
    assert day == {
        "kind": DAY,
        "date": "2026-03-11",
        "sendAt": "2026-03-11T09:00:00.000Z",
        "willSend": True,
        "reason": None,
        "destinations": [
            {"channel": "recording", "id": "one", "label": "To one", "willSend": True, "reason": None},
            {"channel": "recording", "id": "two", "label": "To two", "willSend": False, "reason": "disabled"},
        ],
        "importantDateId": date["id"],
        "personId": str(ada.pk),
        "personName": "Ada",
        "type": None,
        "title": "Met",
        "turns": 36,
    }
    assert (lead["kind"], lead["sendAt"]) == (LEAD, "2026-03-04T09:00:00.000Z")


def test_reason_is_given_if_nothing_will_be_sent(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "1990-03-11", reminderEnabled=False)
    assert short(upcoming(api)) == [(DAY, "2026-03-11", None, "reminder_off")]
    add(api, ada, "2026-02-26", reminderInterval=1, reminderIntervalUnit="WEEKS", reminderLeadDays=7)
    assert short(upcoming(api, 7)) == [
        (LEAD, "2026-03-05", None, "lead_not_after_previous"),
        (DAY, "2026-03-05", "2026-03-05T09:00:00.000Z", None),
    ]
    channel.on = {"one": "auto_disabled"}
    entry = next(entry for entry in upcoming(api, 7) if entry["kind"] == DAY)
    assert (entry["willSend"], entry["reason"], entry["destinations"][0]["reason"]) == (
        False,
        "no_channel",
        "auto_disabled",
    )


def test_digests_and_contact_reminders_are_included(api: Client, channel: RecordingChannel) -> None:
    body = {"name": "Bob", "lastContact": "2026-02-13", "contactReminderEnabled": True}
    api.ok("post", "/api/people", body, status=201)
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    call_command("deliver_reminders")
    assert short(upcoming(api, 13)) == [
        ("digest.weekly", "2026-03-02", None, "no_events"),
        ("digest.weekly", "2026-03-09", "2026-03-09T09:00:00.000Z", None),
        ("reminder.contact", "2026-03-13", "2026-03-13T09:00:00.000Z", None),
    ]


@pytest.mark.both_databases
def test_forecast_tells_which_digests_have_events(
    api: Client, alice: User, ada: Person, channel: RecordingChannel
) -> None:
    """What lies on a Monday stands in two of them; what is skipped, and the birthday of the dead, in none."""
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    call_command("deliver_reminders")
    add(api, ada, "1990-03-30")
    skipped = ImportantDate.objects.owned_by(alice).get(pk=add(api, ada, "1990-04-15")["id"])
    body = {"name": "Bob", "lastContact": "2026-03-20", "contactReminderEnabled": True}
    body |= {"contactReminderInterval": 2, "contactReminderIntervalUnit": "MONTHS"}
    bob = Person.objects.owned_by(alice).get(pk=api.ok("post", "/api/people", body, status=201)["person"]["id"])
    add(api, make_person(alice, name="Eve", deathday=dt.date(2026, 1, 1)), "1990-06-12", type="BIRTHDAY")
    answer = {"owner": alice, "state": "skipped", "kind": DAY}
    ReminderAnswer.objects.create(important_date=skipped, occurrence_on=dt.date(2026, 4, 15), **answer)
    ReminderAnswer.objects.create(person=bob, occurrence_on=dt.date(2026, 5, 20), **answer)
    digests = [entry for entry in upcoming(api, 150) if entry["kind"] == "digest.weekly"]
    told = [entry["date"] for entry in digests if entry["reason"] is None]
    assert told == ["2026-03-23", "2026-03-30", "2026-07-13", "2026-07-20"]
    days = [entry["date"] for entry in digests]
    assert told == [day for day in days if digest_events(alice, dt.date.fromisoformat(day)).events]


def test_disabled_digest_is_not_included(api: Client, alice: User, ada: Person) -> None:
    api.ok("put", "/api/user/weekly-digest", {"enabled": True, "weekday": 1})
    call_command("deliver_reminders")
    assert [entry["kind"] for entry in upcoming(api)] == ["digest.weekly"] * 5
    Client().post(unsubscribe_url(alice, Subject.DIGEST).partition(settings.BASE_URL)[2])
    assert upcoming(api) == []


def test_forecast_reminders_are_sent(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "1990-03-11", reminderLeadDays=20)
    add(api, ada, "2026-02-25", reminderInterval=3, reminderIntervalUnit="DAYS", reminderLeadDays=1)
    add(api, ada, "2026-03-29", reminderType="ONCE")
    api.ok("put", "/api/user/timezone", {"timezone": "Europe/Berlin"})
    call_command("deliver_reminders")
    preview = upcoming(api)
    told = {}
    for moment in sorted({entry["sendAt"] for entry in preview}):
        channel.sent.clear()
        call_command("deliver_reminders", "--now", moment)
        told[moment] = sorted(channel.sent_notices)
    assert told == {
        moment: sorted((entry["kind"], entry["date"]) for entry in preview if entry["sendAt"] == moment)
        for moment in told
    }
    assert len(preview) > 15


def test_changed_hour_and_lead_days_apply_at_once(api: Client, ada: Person) -> None:
    add(api, ada, "2026-03-20")
    api.ok("put", "/api/user/reminder-hour", {"hour": 5})
    api.ok("put", "/api/user/reminder-lead-days", {"days": 2})
    assert short(upcoming(api)) == [
        (LEAD, "2026-03-20", "2026-03-18T05:00:00.000Z", None),
        (DAY, "2026-03-20", "2026-03-20T05:00:00.000Z", None),
    ]
