"""The contract between channels and the ledger. Every channel must pass these tests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from notifications.channels import CHANNELS, channels
from notifications.channels.interface import AttemptOutcome, Channel, ChannelTarget
from notifications.models import Destination, PushSubscription
from notifications.notices.notice import NoticeKind
from notifications.vapid import make_keys
from tests.builders import UNKNOWN_ID
from tests.client import Client
from tests.loopback import Reply, closed_port, recording_server
from tests.mailbox import smtp_server, use_mailbox
from tests.notifications.conftest import answer_as_ntfy
from tests.notifications.devices import Device
from tests.notifications.notices import make_notice
from tests.notifications.test_destinations import create

pytestmark = pytest.mark.sqlite_suffices

CODES = {"blocked", "dns", "timeout", "refused", "tls", "redirect", "http_4xx", "http_429", "http_5xx"} | {
    "unexpected_response",
    "unknown",
}


@dataclass
class ChannelCase:
    """A channel with a working target of alice's, and ways to break it."""

    channel: Channel
    owner: User
    delivered: Callable[[], int]
    take_away: Callable[[], None]
    fail: Callable[[int], None] | None = None

    @property
    def target(self) -> ChannelTarget:
        (target,) = self.channel.targets(self.owner)
        return target


def on_email(api: Client, alice: User, settings: Any) -> Iterator[ChannelCase]:
    with smtp_server() as mailbox:
        use_mailbox(mailbox, settings)

        def take_away() -> None:
            settings.EMAIL_PORT = closed_port()

        yield ChannelCase(channels()["email"], alice, lambda: len(mailbox.messages), take_away)


def on_http(name: str, api: Client, alice: User, settings: Any) -> Iterator[ChannelCase]:
    with recording_server() as server:
        server.reply = answer_as_ntfy if name == "ntfy" else Reply(201)
        keys = make_keys()
        settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = keys.public, keys.private
        if name == "push":
            api.ok("post", "/api/notifications/push/subscribe", Device(f"{server.url}/x").subscription, status=201)
        else:
            create(api, type=name.upper(), url=f"{server.url}/push/topic")
        before = len(server.received)

        def take_away() -> None:
            gone = f"http://127.0.0.1:{closed_port()}"
            Destination.unscoped.rows().update(url=gone, server_url=gone)
            PushSubscription.unscoped.rows().update(endpoint=gone)

        def fail(status: int) -> None:
            server.reply = Reply(status, {"Retry-After": "90"})

        yield ChannelCase(channels()[name], alice, lambda: len(server.received) - before, take_away, fail)


@pytest.fixture(params=[channel.name for channel in CHANNELS])
def case(request: pytest.FixtureRequest, api: Client, alice: User, settings: Any) -> Iterator[ChannelCase]:
    if request.param == "email":
        yield from on_email(api, alice, settings)
    else:
        yield from on_http(request.param, api, alice, settings)


def kinds_of(case: ChannelCase) -> list[NoticeKind]:
    return sorted(case.channel.kinds)


def test_names_are_unique() -> None:
    assert len(channels()) == len(CHANNELS) == 4


def test_target_belongs_to_one_account(case: ChannelCase, mallory: User) -> None:
    target = case.target
    assert (target.channel, target.off_reason) == (case.channel.name, None)
    assert target.key
    assert target.label
    assert case.target == target
    theirs = case.channel.targets(mallory)
    assert target not in theirs


def test_every_supported_kind_is_delivered_once(case: ChannelCase) -> None:
    for number, kind in enumerate(kinds_of(case), start=1):
        assert case.channel.send(case.target.key, make_notice(case.owner, kind)) == AttemptOutcome()
        assert case.delivered() == number


def test_kinds_include_the_reminders(case: ChannelCase) -> None:
    assert len(kinds_of(case)) >= 3
    assert (NoticeKind.DIGEST in kinds_of(case)) == (case.channel.name in {"email", "webhook"})


@pytest.mark.both_databases
def test_failure_is_an_outcome_with_a_documented_code(case: ChannelCase) -> None:
    case.take_away()
    outcome = case.channel.send(case.target.key, make_notice(case.owner))
    assert not outcome.is_ok
    assert outcome.code in CODES
    assert outcome == AttemptOutcome(code="refused")
    case.channel.record_outcome(case.target.key, outcome, owner=case.owner, now=timezone.now())
    assert case.target.off_reason is None


def test_retry_after_is_in_the_outcome(case: ChannelCase) -> None:
    if case.fail is None:
        pytest.skip("a mail server has no Retry-After")
    for status, code in ((429, "http_429"), (503, "http_5xx")):
        case.fail(status)
        outcome = case.channel.send(case.target.key, make_notice(case.owner))
        assert outcome == AttemptOutcome(code=code, retry_after=90)


def test_missing_target_ends_the_delivery(case: ChannelCase, mallory: User) -> None:
    if case.channel.name == "email":
        pytest.skip("an account always has its address")
    for key in ("nonsense", UNKNOWN_ID):
        outcome = case.channel.send(key, make_notice(case.owner))
        assert (outcome.is_ok, outcome.is_final, outcome.is_internal) == (False, True, True)
        case.channel.record_outcome(key, outcome, owner=case.owner, now=timezone.now())
    assert not case.channel.send(case.target.key, make_notice(mallory)).is_ok
    assert case.delivered() == 0


def test_internal_error_is_an_outcome(case: ChannelCase, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(case.channel, "deliver", broken)
    assert case.channel.send(case.target.key, make_notice(case.owner)) == AttemptOutcome(
        code="unknown", is_internal=True
    )


def test_confirmed_delivery_is_recorded(case: ChannelCase) -> None:
    case.channel.record_outcome(case.target.key, AttemptOutcome(), owner=case.owner, now=timezone.now())
    assert case.target.off_reason is None
