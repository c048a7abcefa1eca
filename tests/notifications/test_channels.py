"""What every channel promises to the ledger, the same for all: a new one has to pass this too."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from notifications.channels import CHANNELS, channels
from notifications.channels.interface import Channel, Outcome, Target
from notifications.models import Destination, PushSubscription
from notifications.notices.notice import NoticeKind
from notifications.vapid import make_keys
from tests.client import Client
from tests.loopback import Reply, closed_port, recording_server
from tests.mailbox import smtp_server, use
from tests.notifications.conftest import answer_as_ntfy
from tests.notifications.devices import Device
from tests.notifications.notices import make_notice
from tests.notifications.test_destinations import create

CODES = {"blocked", "dns", "timeout", "refused", "tls", "redirect", "http_4xx", "http_429", "http_5xx"} | {
    "unexpected_response",
    "unknown",
}


@dataclass
class Stage:
    """One channel with a target of alice's that works, and ways to break it."""

    channel: Channel
    owner: User
    delivered: Callable[[], int]
    take_away: Callable[[], None]
    fail: Callable[[int], None] | None = None

    @property
    def target(self) -> Target:
        (target,) = self.channel.targets(self.owner)
        return target


def on_email(api: Client, alice: User, settings: Any) -> Iterator[Stage]:
    with smtp_server() as mailbox:
        use(mailbox, settings)

        def take_away() -> None:
            settings.EMAIL_PORT = closed_port()

        yield Stage(channels()["email"], alice, lambda: len(mailbox.messages), take_away)


def on_http(name: str, api: Client, alice: User, settings: Any) -> Iterator[Stage]:
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

        yield Stage(channels()[name], alice, lambda: len(server.received) - before, take_away, fail)


@pytest.fixture(params=[channel.name for channel in CHANNELS])
def stage(request: pytest.FixtureRequest, api: Client, alice: User, settings: Any) -> Iterator[Stage]:
    if request.param == "email":
        yield from on_email(api, alice, settings)
    else:
        yield from on_http(request.param, api, alice, settings)


def kinds_of(stage: Stage) -> list[NoticeKind]:
    return sorted(stage.channel.kinds)


def test_names_are_unique() -> None:
    assert len(channels()) == len(CHANNELS) == 4


def test_target_belongs_to_its_account_alone(stage: Stage, mallory: User) -> None:
    target = stage.target
    assert (target.channel, target.off) == (stage.channel.name, None)
    assert target.key
    assert target.label
    assert stage.target == target
    theirs = stage.channel.targets(mallory)
    assert target not in theirs


def test_every_kind_it_takes_is_delivered_once(stage: Stage) -> None:
    for number, kind in enumerate(kinds_of(stage), start=1):
        assert stage.channel.send(stage.target.key, make_notice(stage.owner, kind)) == Outcome()
        assert stage.delivered() == number


def test_kinds_are_the_reminders_at_least(stage: Stage) -> None:
    assert len(kinds_of(stage)) >= 3
    assert (NoticeKind.DIGEST in kinds_of(stage)) == (stage.channel.name in {"email", "webhook"})


def test_failure_is_an_outcome_with_a_code_of_the_contract(stage: Stage) -> None:
    stage.take_away()
    outcome = stage.channel.send(stage.target.key, make_notice(stage.owner))
    assert not outcome.is_ok
    assert outcome.code in CODES
    assert outcome == Outcome(code="refused")
    stage.channel.record_outcome(stage.target.key, outcome, owner=stage.owner, now=timezone.now())
    assert stage.target.off is None


def test_being_asked_to_wait_is_passed_on(stage: Stage) -> None:
    if stage.fail is None:
        pytest.skip("a mail server has no Retry-After")
    for status, code in ((429, "http_429"), (503, "http_5xx")):
        stage.fail(status)
        outcome = stage.channel.send(stage.target.key, make_notice(stage.owner))
        assert outcome == Outcome(code=code, retry_after=90)


def test_target_that_is_no_more_ends_the_delivery(stage: Stage, mallory: User) -> None:
    if stage.channel.name == "email":
        pytest.skip("an account always has its address")
    for key in ("nonsense", "01900000-0000-7000-8000-000000000000"):
        outcome = stage.channel.send(key, make_notice(stage.owner))
        assert (outcome.is_ok, outcome.is_final, outcome.is_ours) == (False, True, True)
        stage.channel.record_outcome(key, outcome, owner=stage.owner, now=timezone.now())
    assert not stage.channel.send(stage.target.key, make_notice(mallory)).is_ok
    assert stage.delivered() == 0


def test_fault_of_ours_is_an_outcome_too(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(stage.channel, "deliver", broken)
    assert stage.channel.send(stage.target.key, make_notice(stage.owner)) == Outcome(code="unknown", is_ours=True)


def test_confirmed_delivery_settles(stage: Stage) -> None:
    stage.channel.record_outcome(stage.target.key, Outcome(), owner=stage.owner, now=timezone.now())
    assert stage.target.off is None
