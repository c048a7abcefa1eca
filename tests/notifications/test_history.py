"""GET /api/notifications/deliveries."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from notifications.models import Delivery
from notifications.tasks import purge_deliveries
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]
PATH = "/api/notifications/deliveries"


@pytest.fixture
def reminded(api: Client, alice: User, channel: RecordingChannel) -> str:
    """A reminder that was due and failed; returns the id of its date."""
    body = {"type": "BIRTHDAY", "date": "1990-03-02", "reminderEnabled": True}
    path = f"/api/people/{make_person(alice).pk}/important-dates"
    made: str = api.ok("post", path, body)["importantDate"]["id"]
    channel.outcomes = [DOWN]
    call_command("deliver_reminders", "--now", "2026-03-02T09:00:00Z")
    return made


def test_delivery_has_its_state_and_error(api: Client, reminded: str, clock: Any) -> None:
    clock.move_to("2026-03-02T12:00:00Z")
    (row,) = api.ok("get", PATH)["deliveries"]
    expected = {
        "kind": "reminder.important_date",
        "status": "pending",
        "code": "http_5xx",
        "channel": "recording",
        "destinationId": "one",
        "destination": "To one",
        "personName": "Ada",
        "importantDateId": reminded,
        "type": "BIRTHDAY",
        "date": "2026-03-02",
        "late": False,
        "attempts": 1,
        "dueAt": "2026-03-02T09:00:00.000Z",
        "endedAt": None,
    }
    assert {key: row[key] for key in expected} == expected
    call_command("deliver_reminders", "--now", "2026-03-02T09:02:00Z")
    (row,) = api.ok("get", PATH)["deliveries"]
    assert (row["status"], row["code"], row["nextTryAt"]) == ("sent", None, None)
    assert row["endedAt"] == "2026-03-02T09:02:00.000Z"


def test_history_has_ninety_days_and_older_rows_are_purged(api: Client, reminded: str, clock: Any) -> None:
    clock.move_to("2026-05-31T08:00:00Z")
    assert len(api.ok("get", PATH)["deliveries"]) == 1
    clock.move_to("2026-05-31T10:00:00Z")
    assert api.ok("get", PATH)["deliveries"] == []
    for _ in range(2):
        purge_deliveries()
    assert not Delivery.unscoped.exists()


def test_history_is_paged_and_per_account(api: Client, stranger: Client, alice: User) -> None:
    now = timezone.now()
    for day in range(5):
        Delivery.objects.create(
            owner=alice,
            kind="reminder.contact",
            source_id=alice.pk,
            occurrence_on=dt.date(2026, 1, 1 + day),
            due_at=now,
            planned_at=now + dt.timedelta(days=day),
            expires_at=now,
        )
    page = api.ok("get", f"{PATH}?limit=2&offset=1")
    assert [row["date"] for row in page["deliveries"]] == ["2026-01-04", "2026-01-03"]
    assert page["pagination"] == {"total": 5, "limit": 2, "offset": 1, "hasMore": True}
    assert stranger.ok("get", PATH)["deliveries"] == []
    assert api.call("get", f"{PATH}?limit=0").status_code == 400
