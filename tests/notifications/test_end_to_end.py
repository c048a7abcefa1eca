"""From a date that is created through the API to the receivers of every channel, through the ledger."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from standardwebhooks import Webhook

from accounts.models import User
from notifications.channels.interface import AttemptOutcome
from notifications.models import Delivery
from notifications.services import sender
from notifications.vapid import make_keys
from tests.builders import make_person, verify_email
from tests.client import Client
from tests.loopback import Recorder, Reply, closed_port
from tests.mailbox import Mailbox
from tests.notifications.devices import Device
from tests.notifications.test_destinations import PATH, create

pytestmark = pytest.mark.sqlite_suffices

MORNING = dt.datetime(2026, 5, 4, 8, tzinfo=dt.UTC)
DUE = MORNING + dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def clock(settings: Any) -> Any:
    keys = make_keys()
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = keys.public, keys.private
    with time_machine.travel(MORNING, tick=False) as clock:
        yield clock


def remind_on(api: Client, alice: User, *days: dt.date) -> None:
    """Create a person with one date on each of the days."""
    path = f"/api/people/{make_person(alice, name='Ada').pk}/important-dates"
    for day in days:
        body = {"title": "Met", "date": day.isoformat(), "reminderEnabled": True, "reminderType": "ONCE"}
        api.ok("post", path, body)


def deliver(clock: Any, moment: dt.datetime) -> None:
    clock.move_to(moment)
    call_command("deliver_reminders", "--now", moment.isoformat())


def test_push_of_a_run_for_a_later_instant_expires_at_the_end_of_that_day(
    api: Client, alice: User, receiver: Recorder
) -> None:
    api.ok("put", "/api/notifications/email", {"enabled": False})
    device = Device(f"{receiver.url}/device")
    api.ok("post", "/api/notifications/push/subscribe", device.subscription, status=201)
    remind_on(api, alice, MORNING.date() + dt.timedelta(40))
    call_command("deliver_reminders", "--now", (DUE + dt.timedelta(40)).isoformat())
    assert receiver.received[0].headers["ttl"] == str(15 * 3600)


def history(api: Client) -> Any:
    return api.ok("get", "/api/notifications/deliveries")["deliveries"]


def test_one_date_reaches_every_channel_once(
    api: Client, alice: User, clock: Any, mailbox: Mailbox, receiver: Recorder, ntfy: Recorder
) -> None:
    hook = create(api, url=f"{receiver.url}/hook")
    create(api, type="NTFY", url=f"{ntfy.url}/push/topic")
    device = Device(f"{receiver.url}/device")
    api.ok("post", "/api/notifications/push/subscribe", device.subscription, status=201)
    remind_on(api, alice, MORNING.date())
    ntfy.received.clear()
    for _ in range(3):
        deliver(clock, DUE)
    assert [message["Subject"].strip() for message in mailbox.messages] == ["Met: Ada"]
    assert len(ntfy.received) == 1
    by_path = {request.path: request for request in receiver.received}
    assert len(by_path) == len(receiver.received) == 2
    event = Webhook(hook["secret"]).verify(by_path["/hook"].body, by_path["/hook"].headers)
    assert event["type"] == "reminder.important_date"
    assert (event["data"]["personName"], event["data"]["date"]) == ("Ada", "2026-05-04")
    assert device.read(by_path["/device"])["title"] == "Met: Ada"
    assert {row["status"] for row in history(api)} == {"sent"}
    assert len(history(api)) == 4
    assert api.ok("get", PATH)["endpoints"][0]["lastSuccessAt"] is not None


def test_webhook_that_fails_for_ten_days_is_disabled_and_its_owner_mailed(
    api: Client, alice: User, clock: Any, mailbox: Mailbox
) -> None:
    verify_email(alice)  # what somebody has typed, as the label, is said to proven addresses alone
    api.ok("put", "/api/notifications/email", {"enabled": False})
    create(api, url=f"http://127.0.0.1:{closed_port()}/")
    remind_on(api, alice, *[MORNING.date() + dt.timedelta(days) for days in range(11)])
    for days in range(10):
        for minutes in (0, 2, 6, 34, 133, 340, 670):
            deliver(clock, DUE + dt.timedelta(days=days, minutes=minutes))
        (endpoint,) = api.ok("get", PATH)["endpoints"]
        assert endpoint["consecutiveFailures"] == days + 1
        assert endpoint["enabled"] is (days < 9)
    assert endpoint["autoDisabledAt"] is not None
    assert endpoint["lastFailureCode"] == "refused"
    deliver(clock, DUE + dt.timedelta(days=10))
    assert api.ok("get", PATH)["endpoints"][0]["consecutiveFailures"] == 10
    assert [message["Subject"].strip() for message in mailbox.messages] == [
        "The destination “Mine” has been switched off"
    ]


def test_410_disables_the_webhook_and_removes_the_device(
    api: Client, alice: User, clock: Any, mailbox: Mailbox, receiver: Recorder
) -> None:
    create(api, url=f"{receiver.url}/hook")
    subscription = Device(f"{receiver.url}/device").subscription
    api.ok("post", "/api/notifications/push/subscribe", subscription, status=201)
    remind_on(api, alice, MORNING.date())
    receiver.reply = Reply(410)
    deliver(clock, DUE)
    deliver(clock, DUE + dt.timedelta(hours=5))
    assert len(receiver.received) == 2
    (endpoint,) = api.ok("get", PATH)["endpoints"]
    assert (endpoint["enabled"], endpoint["lastFailureCode"]) == (False, "http_4xx")
    assert api.ok("get", "/api/notifications/channels")["push"]["devices"] == 0


def test_rate_limiting_delays_and_does_not_count_as_failure(
    api: Client, alice: User, clock: Any, receiver: Recorder
) -> None:
    create(api, url=receiver.url)
    api.ok("put", "/api/notifications/email", {"enabled": False})
    remind_on(api, alice, MORNING.date())
    receiver.reply = Reply(429, {"Retry-After": "1200"})
    for minutes in (0, 2, 19):
        deliver(clock, DUE + dt.timedelta(minutes=minutes))
    assert len(receiver.received) == 1
    (endpoint,) = api.ok("get", PATH)["endpoints"]
    assert (endpoint["lastFailureCode"], endpoint["lastFailureAt"]) == ("http_429", "2026-05-04T09:00:00.000Z")
    assert (endpoint["enabled"], endpoint["consecutiveFailures"]) == (True, 0)
    for minutes in (21, 60, 200, 400, 700, 899):
        deliver(clock, DUE + dt.timedelta(minutes=minutes))
    deliver(clock, DUE + dt.timedelta(hours=16))
    (endpoint,) = api.ok("get", PATH)["endpoints"]
    assert (endpoint["enabled"], endpoint["consecutiveFailures"]) == (True, 0)
    (row,) = history(api)
    assert (row["status"], row["code"]) == ("failed", "http_429")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "retry_after",
    [
        "Fri, 31 Dec 9999 23:59:59 -1200",  # beyond the calendar, once it is added to now
        "1 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 1 Jan 2030 00:00:00 +9999999999",
    ],
)
def test_failure_is_recorded_even_with_a_huge_retry_after(
    api: Client, alice: User, clock: Any, receiver: Recorder, retry_after: str
) -> None:
    create(api, url=receiver.url)
    api.ok("put", "/api/notifications/email", {"enabled": False})
    remind_on(api, alice, MORNING.date())
    receiver.reply = Reply(503, {"Retry-After": retry_after})
    deliver(clock, DUE)
    (row,) = history(api)
    assert (row["code"], row["attempts"]) == ("http_5xx", 1)


def test_delivery_that_raises_does_not_delay_others(
    api: Client, alice: User, clock: Any, receiver: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(api, url=receiver.url)
    api.ok("put", "/api/notifications/email", {"enabled": False})
    remind_on(api, alice, MORNING.date())
    remind_on(api, alice, MORNING.date())
    real, tried = sender.record_attempt, []

    def record(delivery: Delivery, outcome: AttemptOutcome, *, now: dt.datetime) -> None:
        tried.append(delivery.pk)
        if len(tried) == 1:
            raise OverflowError
        real(delivery, outcome, now=now)

    monkeypatch.setattr(sender, "record_attempt", record)
    deliver(clock, DUE)
    assert len(tried) == 2
    assert sorted(row["status"] for row in history(api)) == ["sending", "sent"]
