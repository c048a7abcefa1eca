"""Devices through the API: the upsert, the cap, and whose account a device belongs to."""

import ipaddress
from typing import Any

import pytest

from accounts.models import User
from notifications.channels import channels
from notifications.models import PushSubscription
from tests.client import Client, client_of
from tests.notifications.notices import make_notice

pytestmark = pytest.mark.sqlite_suffices

SUBSCRIBE = "/api/notifications/push/subscribe"
LIST = "/api/notifications/push/subscriptions"
PUBLIC_KEY = "/api/notifications/push/public-key"
ENDPOINT = "https://push.example/send/1"


def body(endpoint: Any = ENDPOINT, p256dh: Any = "key", auth: Any = "secret") -> dict[str, Any]:
    return {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}


def devices(client: Client) -> Any:
    return client.ok("get", LIST)["subscriptions"]


def test_same_endpoint_renews_the_device(api: Client) -> None:
    made = api.ok("post", SUBSCRIBE, body(), status=201)
    (first,) = devices(api)
    assert made == {"success": True, "id": first["id"]}
    assert first["endpoint"] == ENDPOINT
    assert "key" not in str(first)
    assert "secret" not in str(first)
    api.ok("post", SUBSCRIBE, body(p256dh="new", auth="newer"), status=201)
    (second,) = devices(api)
    assert second["id"] == first["id"]
    row = PushSubscription.unscoped.rows().get()
    assert (row.p256dh, row.auth) == ("new", "newer")


def test_endpoint_moves_to_the_last_subscriber(api: Client, stranger: Client, alice: User, mallory: User) -> None:
    api.ok("post", SUBSCRIBE, body(), status=201)
    (old,) = channels()["push"].targets(alice)
    stranger.ok("post", SUBSCRIBE, body(), status=201)
    assert devices(api) == []
    assert len(channels()["push"].targets(mallory)) == 1
    # A delivery that was planned for alice's device does not reach it now that it is mallory's.
    outcome = channels()["push"].send(old.key, make_notice(alice))
    assert (outcome.is_ok, outcome.is_final, outcome.is_internal) == (False, True, True)


@pytest.mark.one_database
@pytest.mark.parametrize(
    "bad",
    [
        {},
        [],
        {"endpoint": ENDPOINT},
        {"keys": {"p256dh": "a", "auth": "b"}},
        {"endpoint": ENDPOINT, "keys": {"p256dh": "a"}},
        {"endpoint": ENDPOINT, "keys": "a"},
        body(endpoint=None),
        body(endpoint=5),
        body(endpoint=""),
        body(endpoint="http://push.example/"),
        body(endpoint="http://93.184.215.14/"),
        body(endpoint="wss://push.example/"),
        body(endpoint="push.example"),
        body(endpoint="https://"),
        body(endpoint="https://user:secret@push.example/"),
        body(endpoint="https://push.example/" + "x" * 1980),
        body(endpoint="https://push.example/" + "ü" * 990),
        body(p256dh=""),
        body(p256dh="x" * 256),
        body(auth=""),
        body(auth="x" * 256),
        body(auth=7),
    ],
)
def test_invalid_body_is_400(api: Client, bad: Any) -> None:
    response = api.ok("post", SUBSCRIBE, bad, status=400)
    assert response["code"] == "invalid"
    assert response["details"]
    assert devices(api) == []


def test_plain_http_is_accepted_only_in_allowed_networks(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"inside.example": "127.0.0.1", "outside.example": "93.184.215.14"}
    monkeypatch.setattr(
        "contacts_project.kernel.outbound.sockets.system_resolve",
        lambda host, port: [ipaddress.ip_address(answers[host])],
    )
    api.ok("post", SUBSCRIBE, body("http://inside.example/x"), status=201)
    api.ok("post", SUBSCRIBE, body("http://127.0.0.1/x"), status=201)
    api.ok("post", SUBSCRIBE, body("http://outside.example/x"), status=400)


def test_length_of_endpoints_is_limited_in_bytes(api: Client) -> None:
    longest = "https://push.example/" + "ü" * 989 + "x"
    assert len(longest.encode()) == 2000
    api.ok("post", SUBSCRIBE, body(longest, "k" * 255, "a" * 255), status=201)
    assert devices(api)[0]["endpoint"] == longest


def test_twenty_devices_at_most(api: Client, stranger: Client) -> None:
    for number in range(20):
        api.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/{number}"), status=201)
    response = api.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/20"), status=409)
    assert response["error"]
    api.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/3", "new"), status=201)
    # An account at its cap cannot take over a device of another account either.
    stranger.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/theirs"), status=201)
    api.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/theirs"), status=409)
    assert len(devices(stranger)) == 1
    api.ok("delete", f"{LIST}/{devices(api)[0]['id']}")
    api.ok("post", SUBSCRIBE, body(f"{ENDPOINT}/20"), status=201)


def test_devices_of_other_accounts_cannot_be_removed(api: Client, stranger: Client) -> None:
    api.ok("post", SUBSCRIBE, body(), status=201)
    path = f"{LIST}/{devices(api)[0]['id']}"
    stranger.ok("delete", path, status=404)
    assert api.ok("delete", path) == {"success": True}
    for gone in (path, f"{LIST}/nonsense"):
        api.ok("delete", gone, status=404)


def test_public_key_needs_no_authentication_and_is_read_at_run_time(api: Client, settings: Any) -> None:
    anyone = client_of(None)
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = "", ""
    anyone.ok("get", PUBLIC_KEY, status=404)
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = "public", "private"
    assert anyone.ok("get", PUBLIC_KEY) == {"publicKey": "public"}


def test_summary_of_the_channels(api: Client, settings: Any) -> None:
    path = "/api/notifications/channels"
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = "", ""
    nothing = {"email": {"enabled": True}, "push": {"configured": False, "devices": 0}, "endpoints": 0}
    assert api.ok("get", path) == nothing
    api.ok("post", SUBSCRIBE, body(), status=201)
    hook = {"type": "WEBHOOK", "label": "x", "url": "https://127.0.0.1/"}
    api.ok("post", "/api/notifications/endpoints", hook, status=201)
    api.ok("put", "/api/notifications/email", {"enabled": False})
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = "public", "private"
    assert api.ok("get", path) == {
        "email": {"enabled": False},
        "push": {"configured": True, "devices": 1},
        "endpoints": 1,
    }
