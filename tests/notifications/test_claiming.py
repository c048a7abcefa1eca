"""When the owner of its address claims an account, the destinations that were set up before are disabled."""

import pytest

from accounts.models import User
from accounts.services.mail import LinkPurpose, make_link_token
from tests.builders import verify_email
from tests.client import Client, client_of

NEW = "Better-Horse-8"

pytestmark = pytest.mark.django_db


def reset(user: User) -> None:
    token = make_link_token(user, LinkPurpose.RESET)
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": NEW})


def add_channels(user: User) -> None:
    client = client_of(user)
    webhook = {"type": "WEBHOOK", "label": "Mine", "url": "https://127.0.0.1/hook"}
    client.ok("POST", "/api/notifications/endpoints", webhook, status=201)
    device = {"endpoint": "https://push.example/device", "keys": {"p256dh": "key", "auth": "secret"}}
    client.ok("POST", "/api/notifications/push/subscribe", device, status=201)


def channels(user: User) -> tuple[list[bool], int]:
    """Whether each destination is enabled, and the number of devices."""
    client = client_of(user)
    endpoints = client.ok("GET", "/api/notifications/endpoints")["endpoints"]
    devices = client.ok("GET", "/api/notifications/push/subscriptions")["subscriptions"]
    return [endpoint["enabled"] for endpoint in endpoints], len(devices)


def test_first_verification_disables_earlier_destinations(alice: User) -> None:
    add_channels(alice)
    reset(alice)
    assert channels(alice) == ([False], 0)


def test_verified_account_keeps_its_channels(alice: User) -> None:
    verify_email(alice)
    add_channels(alice)
    reset(User.objects.get(pk=alice.pk))
    assert channels(alice) == ([True], 1)
