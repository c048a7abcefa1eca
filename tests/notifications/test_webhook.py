"""Webhooks as a receiver sees them, verified with the Standard Webhooks library."""

import dataclasses
import datetime as dt
from typing import Any

import orjson
import pytest
import time_machine
from django.utils import timezone
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from accounts.models import User
from notifications.channels import channels
from notifications.channels.webhook import body_of
from notifications.models import Destination
from notifications.notices.notice import NoticeKind
from tests.client import Client
from tests.loopback import Received, Recorder
from tests.notifications.notices import CONTENTS, make_notice
from tests.notifications.test_destinations import PATH, create

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def hook(api: Client, receiver: Recorder) -> Any:
    """Create alice's webhook to the receiver; returns its id and secret."""
    return create(api, url=f"{receiver.url}/hook?for=alice")


def verify(secret: str, request: Received) -> Any:
    return Webhook(secret).verify(request.body, request.headers)


@pytest.mark.parametrize("kind", NoticeKind)
def test_receiver_verifies_the_signature_and_reads_the_content(
    alice: User, hook: Any, receiver: Recorder, kind: NoticeKind
) -> None:
    notice = make_notice(alice, kind)
    assert channels()["webhook"].send(hook["endpoint"]["id"], notice).is_ok
    (request,) = receiver.received
    assert (request.method, request.path) == ("POST", "/hook?for=alice")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == str(notice.id)
    body = verify(hook["secret"], request)
    assert body == orjson.loads(request.body)
    assert set(body) == {"type", "timestamp", "data"}
    assert body["type"] == kind.value
    assert body["timestamp"].endswith("Z")
    actions = body["data"].pop("actions", [])
    assert body["data"] == CONTENTS[kind]
    offered = [(one["kind"], one.get("days")) for one in actions]
    assert offered == (
        [("contacted", None), ("snooze", 1), ("snooze", 3), ("skip", None)]
        if "date" in CONTENTS[kind]
        else [("restore", None)] * (kind is NoticeKind.DAV_DELETIONS)
    )


def test_every_try_has_the_same_id_and_body(alice: User, hook: Any, receiver: Recorder) -> None:
    notice = make_notice(alice)
    for hours in (0, 2):
        with time_machine.travel(timezone.now() + dt.timedelta(hours=hours)):
            assert channels()["webhook"].send(hook["endpoint"]["id"], notice).is_ok
            verify(hook["secret"], receiver.received[-1])
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) >= 7199


def test_order_of_json_keys_does_not_change_the_body(alice: User) -> None:
    """PostgreSQL stores the keys of JSON in an order of its own."""
    notice = make_notice(alice)
    turned = dataclasses.replace(notice, content=dict(reversed(list(notice.content.items()))))
    assert body_of(notice) == body_of(turned)


def test_after_rotation_both_secrets_verify_for_a_day(api: Client, alice: User, hook: Any, receiver: Recorder) -> None:
    id_, old = hook["endpoint"]["id"], hook["secret"]
    new = api.ok("put", f"{PATH}/{id_}", {"rotateSecret": True})["secret"]
    assert channels()["webhook"].send(id_, make_notice(alice)).is_ok
    verify(old, receiver.received[-1])
    verify(new, receiver.received[-1])
    with time_machine.travel(timezone.now() + dt.timedelta(hours=24, seconds=1)):
        assert channels()["webhook"].send(id_, make_notice(alice)).is_ok
        verify(new, receiver.received[-1])
        with pytest.raises(WebhookVerificationError):
            verify(old, receiver.received[-1])


def test_changed_body_does_not_verify(alice: User, hook: Any, receiver: Recorder) -> None:
    assert channels()["webhook"].send(hook["endpoint"]["id"], make_notice(alice)).is_ok
    request = receiver.received[0]
    with pytest.raises(WebhookVerificationError):
        Webhook(hook["secret"]).verify(request.body + b" ", request.headers)


def test_webhook_of_another_account_is_never_called(mallory: User, hook: Any, receiver: Recorder) -> None:
    outcome = channels()["webhook"].send(hook["endpoint"]["id"], make_notice(mallory))
    assert (outcome.is_ok, outcome.is_final, outcome.is_internal) == (False, True, True)
    assert receiver.received == []


def test_undecryptable_secret_is_an_internal_error(alice: User, hook: Any, receiver: Recorder, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = ["Zm9yIHRlc3RzIG9ubHkgLSBub3QgYSByZWFsIGtleSE="]
    outcome = channels()["webhook"].send(hook["endpoint"]["id"], make_notice(alice))
    assert (outcome.code, outcome.is_internal) == ("unknown", True)
    assert receiver.received == []


def test_long_response_to_a_confirmed_delivery_is_not_a_failure(alice: User, hook: Any, receiver: Recorder) -> None:
    from tests.loopback import Reply

    receiver.reply = Reply(200, body=b"x" * 1_000_000)
    assert channels()["webhook"].send(hook["endpoint"]["id"], make_notice(alice)).is_ok


def test_sending_does_not_write_the_destination(alice: User, hook: Any, receiver: Recorder) -> None:
    before = Destination.unscoped.rows().values().get()
    assert channels()["webhook"].send(hook["endpoint"]["id"], make_notice(alice)).is_ok
    after = Destination.unscoped.rows().values().get()
    assert before == after
