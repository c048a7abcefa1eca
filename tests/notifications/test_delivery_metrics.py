"""Deliveries are counted when they reach a state, so that purging their rows does not lower a counter."""

from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from contacts_project.kernel.metrics import read_all
from notifications.models import Delivery
from notifications.tasks import purge_deliveries
from tests.builders import make_person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, RecordingChannel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]


def counted() -> dict[tuple[str, ...], float]:
    found = read_all()
    names = ("contacts_deliveries_total", "contacts_delivery_failures_total")
    return {sample.labels: sample.values[0] for name in names for sample in found.get(name, [])}


def test_states_and_failed_tries_are_counted(api: Client, alice: User, channel: RecordingChannel, clock: Any) -> None:
    before = counted()
    body = {"type": "BIRTHDAY", "date": "1990-03-02", "reminderEnabled": True}
    api.ok("post", f"/api/people/{make_person(alice).pk}/important-dates", body)
    channel.outcomes = [DOWN]
    for moment in ("2026-03-02T09:00:00Z", "2026-03-02T09:02:00Z"):
        clock.move_to(moment)
        call_command("deliver_reminders", "--now", moment)
    grown = {labels: number - before.get(labels, 0) for labels, number in counted().items()}
    expected = {("recording", "pending"): 1, ("recording", "sent"): 1, ("recording", "http_5xx"): 1}
    assert {labels: number for labels, number in grown.items() if number} == expected
    clock.move_to("2026-08-01T00:00:00Z")
    after = counted()
    purge_deliveries()
    assert not Delivery.unscoped.exists()
    assert counted() == after


def test_deliveries_without_channel_are_counted(
    api: Client, alice: User, channel: RecordingChannel, clock: Any
) -> None:
    before = counted().get(("none", "skipped"), 0)
    channel.on = {"one": "disabled"}
    body = {"type": "BIRTHDAY", "date": "1990-03-02", "reminderEnabled": True}
    api.ok("post", f"/api/people/{make_person(alice).pk}/important-dates", body)
    clock.move_to("2026-03-02T09:00:00Z")
    call_command("deliver_reminders", "--now", "2026-03-02T09:00:00Z")
    assert counted()["none", "skipped"] == before + 1
