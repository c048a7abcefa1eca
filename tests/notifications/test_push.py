"""Browser push: the requests to the push service, and what the device decrypts."""

import base64
import datetime as dt
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import orjson
import pytest
import time_machine
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound import exchanges
from contacts_project.kernel.outbound.exchanges import EXCHANGES, MAX_EXCHANGES, ExchangeRules
from notifications.channels import channels
from notifications.channels.interface import AttemptOutcome
from notifications.channels.push import MAX_PAYLOAD_BYTES, operator_address, payload_of, vapid_subject
from notifications.models import PushSubscription
from notifications.notices.notice import NoticeKind
from notifications.vapid import make_keys
from tests.client import Client
from tests.loopback import Recorder, Reply
from tests.notifications.devices import Device
from tests.notifications.notices import make_notice
from tests.queries import count_queries

SUBSCRIBE = "/api/notifications/push/subscribe"
SUBSCRIPTIONS = "/api/notifications/push/subscriptions"


@pytest.fixture(autouse=True)
def _vapid(settings: Any) -> None:
    keys = make_keys()
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = keys.public, keys.private
    settings.VAPID_SUBJECT = "mailto:operator@example.org"


@pytest.fixture
def device(api: Client, receiver: Recorder) -> Device:
    """Alice's device, at a push service that accepts every request."""
    receiver.reply = Reply(201)
    device = Device(f"{receiver.url}/send/abc")
    api.ok("post", SUBSCRIBE, device.subscription, status=201)
    return device


@pytest.fixture
def key(device: Device) -> str:
    return str(PushSubscription.unscoped.rows().get().pk)


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_device_decrypts_the_message(alice: User, device: Device, key: str, receiver: Recorder) -> None:
    notice = make_notice(alice)
    assert channels()["push"].send(key, notice).is_ok
    (request,) = receiver.received
    message = device.read(request)
    assert [(one["kind"], one["label"]) for one in message.pop("actions")] == [
        ("contacted", "Contacted today"),
        ("snooze", "Again tomorrow"),
    ]
    assert message == {
        "title": "Birthday: Ada Lovelace",
        "body": "It is today, Thursday, 10 December (2026-12-10).\nAda Lovelace turns 211.",
        "url": "http://127.0.0.1:8000/app/people/01900000-0000-7000-8000-000000000001",
        "tag": str(notice.id),
    }
    assert request.headers["topic"] == notice.id.hex
    assert len(request.headers["topic"]) <= 32
    left = (notice.expires_at - timezone.now()).total_seconds()
    assert left - 5 < int(request.headers["ttl"]) <= left + 5


def test_push_service_can_verify_the_sender(alice: User, key: str, receiver: Recorder, settings: Any) -> None:
    """RFC 8292: a token signed with the instance's key, for this service's origin, not valid for long."""
    assert channels()["push"].send(key, make_notice(alice)).is_ok
    scheme, _, fields = receiver.received[0].headers["authorization"].partition(" ")
    parts = dict(part.strip().split("=", 1) for part in fields.split(","))
    assert scheme == "vapid"
    assert parts["k"] == settings.VAPID_PUBLIC_KEY
    signed, _, signature = parts["t"].rpartition(".")
    numbers = decode(signature)
    der = encode_dss_signature(int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big"))
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(settings.VAPID_PUBLIC_KEY))
    point.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    claims = orjson.loads(decode(signed.partition(".")[2]))
    assert claims["aud"] == receiver.url
    assert claims["sub"] == "mailto:operator@example.org"
    assert claims["exp"] <= timezone.now().timestamp() + 24 * 3600


def test_vapid_contact_is_the_address_of_the_instance_or_its_first_operator(alice: User, settings: Any) -> None:
    settings.VAPID_SUBJECT, settings.DEFAULT_FROM_EMAIL = "", "Contacts <contacts@example.org>"
    settings.BASE_URL = "http://127.0.0.1:8000"
    operator_address.cache_clear()
    assert vapid_subject() == "mailto:contacts@example.org"
    alice.is_superuser = True
    alice.save()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        operator_address.cache_clear()
        # The look-up reads all accounts: it is made once a minute, not for each device.
        assert count_queries(lambda: [vapid_subject() for _ in range(20)]) == 1
        assert vapid_subject() == f"mailto:{alice.email}"
        alice.email = "other@example.org"
        alice.save()
        clock.shift(61)
        assert vapid_subject() == "mailto:other@example.org"
    settings.BASE_URL = "https://contacts.example.org"
    assert vapid_subject() == "https://contacts.example.org"


def test_subscribing_returns_the_id_and_keeps_it(api: Client, stranger: Client, receiver: Recorder) -> None:
    body = Device(f"{receiver.url}/send/abc").subscription
    made = api.ok("post", SUBSCRIBE, body, status=201, HTTP_USER_AGENT="Firefox on Linux")
    [listed] = api.ok("get", SUBSCRIPTIONS)["subscriptions"]
    assert made == {"success": True, "id": listed["id"]}
    assert (listed["userAgent"], listed["lastSuccessAt"]) == ("Firefox on Linux", None)
    assert api.ok("post", SUBSCRIBE, body, status=201, HTTP_USER_AGENT="Firefox 140") == made
    assert api.ok("get", SUBSCRIPTIONS)["subscriptions"][0]["userAgent"] == "Firefox 140"
    assert stranger.ok("post", SUBSCRIBE, body, status=201) == made
    assert api.ok("get", SUBSCRIPTIONS)["subscriptions"] == []


def test_sample_is_sent_to_the_device(
    api: Client, stranger: Client, device: Device, key: str, receiver: Recorder
) -> None:
    assert api.ok("post", f"{SUBSCRIPTIONS}/{key}/test") == {"ok": True}
    assert device.read(receiver.received[0])["title"]
    assert api.ok("get", SUBSCRIPTIONS)["subscriptions"][0]["lastSuccessAt"] is not None
    stranger.ok("post", f"{SUBSCRIPTIONS}/{key}/test", status=404)
    receiver.reply = Reply(503)
    assert api.ok("post", f"{SUBSCRIPTIONS}/{key}/test") == {"ok": False, "code": "http_5xx"}
    assert len(api.ok("get", SUBSCRIPTIONS)["subscriptions"]) == 1
    receiver.reply = Reply(410)
    assert api.ok("post", f"{SUBSCRIPTIONS}/{key}/test") == {"ok": False, "code": "http_4xx"}
    assert api.ok("get", SUBSCRIPTIONS)["subscriptions"] == []


def test_samples_are_limited_as_those_of_destinations(api: Client, key: str, receiver: Recorder) -> None:
    for _ in range(5):
        api.ok("post", f"{SUBSCRIPTIONS}/{key}/test")
    assert api.ok("post", f"{SUBSCRIPTIONS}/{key}/test", status=429)["code"] == "rate_limited"
    assert len(receiver.received) == 5


def test_sample_waits_for_the_exchanges_of_the_account(
    monkeypatch: pytest.MonkeyPatch, api: Client, alice: User, key: str, receiver: Recorder
) -> None:
    monkeypatch.setattr(exchanges, "_PLACES", replace(exchanges._PLACES, seconds=0))
    with ExitStack() as stack:
        for _ in range(MAX_EXCHANGES):
            stack.enter_context(EXCHANGES.exchange(ExchangeRules(alice.pk, 0.0)))
        api.ok("post", f"{SUBSCRIPTIONS}/{key}/test", status=503)
        assert receiver.received == []
    assert api.ok("post", f"{SUBSCRIPTIONS}/{key}/test") == {"ok": True}


def test_each_send_has_its_own_claims(api: Client, alice: User, device: Device, receiver: Recorder) -> None:
    """pywebpush writes the audience into the claims that it is given, so they must not be shared between calls."""
    api.ok("post", SUBSCRIBE, Device(f"http://127.0.0.2:{receiver.port}/x").subscription, status=201)
    for target in channels()["push"].targets(alice):
        channels()["push"].send(target.key, make_notice(alice))
    (request,) = receiver.received
    token = request.headers["authorization"].partition("t=")[2].partition(",")[0]
    assert orjson.loads(decode(token.split(".")[1]))["aud"] == receiver.url


@pytest.mark.parametrize(("status", "is_gone"), [(404, True), (410, True), (400, False), (413, False), (503, False)])
def test_only_an_unsubscribed_device_is_removed(
    alice: User, key: str, receiver: Recorder, status: int, is_gone: bool
) -> None:
    receiver.reply = Reply(status)
    channel = channels()["push"]
    outcome = channel.send(key, make_notice(alice))
    assert (outcome.is_gone, outcome.is_final) == (is_gone, is_gone)
    assert outcome.code == ("http_5xx" if status == 503 else "http_4xx")
    channel.record_outcome(key, outcome, owner=alice, now=timezone.now())
    assert PushSubscription.unscoped.rows().exists() is not is_gone


def test_success_is_noted_with_its_time(alice: User, mallory: User, key: str) -> None:
    now = timezone.now()
    channels()["push"].record_outcome(key, AttemptOutcome(), owner=mallory, now=now)
    assert PushSubscription.unscoped.rows().get().last_success_at is None
    channels()["push"].record_outcome(key, AttemptOutcome(), owner=alice, now=now)
    assert PushSubscription.unscoped.rows().get().last_success_at == now


@pytest.mark.parametrize("name", ["x" * 5000, "ü" * 3000, "\U0001f382" * 1500, '"\\' * 3000], ids=["a", "u", "e", "q"])
def test_payload_is_limited_to_what_push_services_accept(
    alice: User, device: Device, key: str, receiver: Recorder, name: str
) -> None:
    notice = make_notice(alice, NoticeKind.IMPORTANT_DATE, personName=name)
    assert len(payload_of(notice).encode()) <= MAX_PAYLOAD_BYTES
    assert channels()["push"].send(key, notice).is_ok
    assert len(receiver.received[0].body) <= 4096
    assert device.read(receiver.received[0])["body"]


def test_expired_notice_still_has_a_short_time_to_live(alice: User, key: str, receiver: Recorder) -> None:
    import dataclasses

    notice = dataclasses.replace(make_notice(alice), expires_at=timezone.now() - dt.timedelta(hours=1))
    assert channels()["push"].send(key, notice).is_ok
    assert receiver.received[0].headers["ttl"] == "60"


def test_invalid_keys_fail_without_a_request(api: Client, alice: User, receiver: Recorder) -> None:
    keys = {"p256dh": "nonsense", "auth": "x"}
    api.ok("post", SUBSCRIBE, {"endpoint": f"{receiver.url}/bad", "keys": keys}, status=201)
    (target,) = channels()["push"].targets(alice)
    outcome = channels()["push"].send(target.key, make_notice(alice))
    assert not outcome.is_ok
    assert receiver.received == []


def test_no_targets_without_vapid_keys(alice: User, key: str, settings: Any) -> None:
    assert [target.off_reason for target in channels()["push"].targets(alice)] == [None]
    settings.VAPID_PRIVATE_KEY = ""
    assert [target.off_reason for target in channels()["push"].targets(alice)] == ["push_not_configured"]


def test_https_push_service_outside_the_policy_is_blocked(api: Client, alice: User) -> None:
    api.ok("post", SUBSCRIBE, Device("https://10.0.0.1/push").subscription, status=201)
    (target,) = channels()["push"].targets(alice)
    outcome = channels()["push"].send(target.key, make_notice(alice))
    assert (outcome.code, outcome.is_final, outcome.is_gone) == ("blocked", True, False)
