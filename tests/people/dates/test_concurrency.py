"""The plan's limit and the rule of one date of each type hold under concurrent requests."""

from typing import Any

import pytest

from accounts.models import User
from people.models import ImportantDate, Person
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.concurrency import repeat_concurrently

pytestmark = pytest.mark.django_db(transaction=True)
CONCURRENT_REQUESTS = 18  # of each kind more than the limit of five


def test_concurrent_requests_respect_the_plan_limit_of_reminders(alice: User, ada: Person, settings: Any) -> None:
    set_plan_limits(settings, reminders=5)
    path, body = f"/api/people/{ada.pk}/important-dates", {"title": "Met", "date": "2020-01-01"}
    ids = [client_of(alice).ok("post", path, body)["importantDate"]["id"] for _ in range(10)]
    reminding = {**body, "reminderEnabled": True}

    def send(client: Any, number: int) -> Any:
        if number % 3 == 0:
            return client.call("put", f"{path}/{ids[number % 10]}", reminding)
        if number % 3 == 1:
            return client.call("put", f"/api/people/{ada.pk}", {"contactReminderEnabled": True})
        return client.call("post", path, reminding)

    statuses = repeat_concurrently(alice, CONCURRENT_REQUESTS, send)
    assert set(statuses) <= {200, 400, 403}
    ada.refresh_from_db()
    reminders = ImportantDate.unscoped.filter(reminder_enabled=True).count() + ada.contact_reminder_enabled
    assert reminders == 5


def test_concurrent_requests_create_one_date_of_a_type(alice: User, ada: Person) -> None:
    path, body = f"/api/people/{ada.pk}/important-dates", {"type": "BIRTHDAY", "date": "1990-01-01"}
    client = client_of(alice)
    first = client.ok("post", path, body)["importantDate"]["id"]
    client.ok("delete", f"{path}/{first}")

    def send(client: Any, number: int) -> Any:
        return client.call("post", path, body) if number % 2 else client.call("post", f"{path}/{first}/restore")

    assert repeat_concurrently(alice, CONCURRENT_REQUESTS, send) == {200: 1, 400: CONCURRENT_REQUESTS - 1}
    assert ImportantDate.unscoped.filter(deleted_at=None).count() == 1
