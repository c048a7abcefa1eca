"""Consecutive failures disable a destination, and one mail tells its owner."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import User
from notifications.channels import channels
from notifications.channels.endpoint import send_disabled_notices
from notifications.channels.interface import AttemptOutcome
from notifications.models import Destination
from tests.builders import verify_email
from tests.client import Client
from tests.loopback import Recorder, Reply, closed_port
from tests.mailbox import Mailbox
from tests.notifications.notices import make_notice
from tests.notifications.test_destinations import PATH, create

pytestmark = pytest.mark.sqlite_suffices

GIVEN_UP = AttemptOutcome(code="timeout")


@pytest.fixture
def hook(api: Client, receiver: Recorder) -> str:
    return str(create(api, label="My\nhook", url=receiver.url)["endpoint"]["id"])


def record(owner: User, hook: str, *outcomes: AttemptOutcome, now: dt.datetime | None = None) -> dict[str, Any]:
    for outcome in outcomes:
        channels()["webhook"].record_outcome(hook, outcome, owner=owner, now=now or timezone.now())
    row: dict[str, Any] = Destination.unscoped.rows().values().get()
    return row


def test_tenth_consecutive_failure_disables(alice: User, hook: str, api: Client) -> None:
    now = dt.datetime(2026, 5, 4, 9, tzinfo=dt.UTC)
    row = record(alice, hook, *[GIVEN_UP] * 9, now=now)
    assert (row["enabled"], row["consecutive_failures"], row["last_failure_at"]) == (True, 9, now)
    row = record(alice, hook, GIVEN_UP, now=now)
    assert (row["enabled"], row["auto_disabled_at"], row["last_failure_code"]) == (False, now, "timeout")
    (response,) = api.ok("get", PATH)["endpoints"]
    assert response["autoDisabledAt"] == "2026-05-04T09:00:00.000Z"
    assert [target.off_reason for target in channels()["webhook"].targets(alice)] == ["auto_disabled"]


@pytest.mark.both_databases
def test_success_resets_the_count(alice: User, hook: str) -> None:
    row = record(alice, hook, *[GIVEN_UP] * 9, AttemptOutcome(), *[GIVEN_UP] * 9)
    assert (row["enabled"], row["consecutive_failures"]) == (True, 9)
    assert row["last_success_at"] is not None


@pytest.mark.parametrize("outcome", [AttemptOutcome(code="http_429"), AttemptOutcome(code="unknown", is_internal=True)])
def test_rate_limiting_and_internal_errors_do_not_count(alice: User, hook: str, outcome: AttemptOutcome) -> None:
    row = record(alice, hook, *[outcome] * 30)
    assert (row["enabled"], row["consecutive_failures"]) == (True, 0)
    assert row["last_failure_code"] == outcome.code


def test_one_410_disables(alice: User, hook: str, receiver: Recorder) -> None:
    receiver.reply = Reply(410)
    outcome = channels()["webhook"].send(hook, make_notice(alice))
    assert (outcome.code, outcome.is_final, outcome.is_gone) == ("http_4xx", True, True)
    row = record(alice, hook, outcome)
    assert (row["enabled"], row["consecutive_failures"]) == (False, 1)
    assert row["auto_disabled_at"] is not None


def test_404_does_not_disable(alice: User, hook: str, receiver: Recorder) -> None:
    receiver.reply = Reply(404)
    outcome = channels()["webhook"].send(hook, make_notice(alice))
    assert (outcome.is_final, outcome.is_gone) == (False, False)
    assert record(alice, hook, outcome)["enabled"] is True


def test_owner_gets_one_mail(alice: User, hook: str, mailbox: Mailbox) -> None:
    verify_email(alice)
    alice.language = "de-DE"
    alice.email_reminders_enabled = False  # this is about the account, not a reminder
    alice.save()
    record(alice, hook, *[GIVEN_UP] * 12)
    assert send_disabled_notices() == 1
    assert send_disabled_notices() == 0
    (message,) = mailbox.messages
    assert message["To"] == "alice@example.org"
    assert message["Subject"] == "Das Ziel „My hook“ wurde abgeschaltet"
    assert "timeout" in message.get_content()


def test_an_address_that_nobody_has_proven_is_not_sent_what_the_account_calls_it(
    alice: User, hook: str, mailbox: Mailbox
) -> None:
    """Anybody can register with a stranger's address, and a label can be a sentence with a link."""
    record(alice, hook, *[GIVEN_UP] * 12)
    assert send_disabled_notices() == 1
    (message,) = mailbox.messages
    assert message["Subject"] == "A destination of your notifications has been switched off"
    assert "My hook" not in message.get_content()
    assert "Notifications could not be delivered. The last failure was: timeout." in message.get_content()


def test_refused_mail_is_sent_a_minute_later(
    clock: time_machine.Traveller, alice: User, hook: str, mailbox: Mailbox, settings: Any
) -> None:
    record(alice, hook, *[GIVEN_UP] * 10)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, closed_port()
    assert send_disabled_notices() == 0
    settings.EMAIL_PORT = port
    assert send_disabled_notices() == 0
    clock.shift(60)
    assert send_disabled_notices() == 1
    assert len(mailbox.messages) == 1


def test_no_mail_after_the_owner_enabled_or_disabled_it(api: Client, alice: User, hook: str) -> None:
    api.ok("put", f"{PATH}/{hook}", {"enabled": False})
    assert send_disabled_notices() == 0
    api.ok("put", f"{PATH}/{hook}", {"enabled": True})
    record(alice, hook, *[GIVEN_UP] * 10)
    api.ok("put", f"{PATH}/{hook}", {"enabled": True})
    assert send_disabled_notices() == 0
    assert mail.outbox == []


def test_failure_after_manual_disabling_is_not_automatic_disabling(api: Client, alice: User, hook: str) -> None:
    api.ok("put", f"{PATH}/{hook}", {"enabled": False})
    row = record(alice, hook, *[GIVEN_UP] * 12)
    assert (row["enabled"], row["auto_disabled_at"]) == (False, None)
    assert [target.off_reason for target in channels()["webhook"].targets(alice)] == ["disabled"]


def test_outcome_of_a_deleted_destination_is_ignored(api: Client, alice: User, hook: str) -> None:
    api.ok("delete", f"{PATH}/{hook}")
    channels()["webhook"].record_outcome(hook, GIVEN_UP, owner=alice, now=timezone.now())
    channels()["webhook"].record_outcome("nonsense", GIVEN_UP, owner=alice, now=timezone.now())


def test_outcome_of_another_account_does_not_count(mallory: User, hook: str) -> None:
    assert record(mallory, hook, *[GIVEN_UP] * 10)["consecutive_failures"] == 0
