"""Caps, rate limits and uniqueness under concurrent requests, on real threads and connections."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from notifications.models import Destination, PushSubscription
from tests.client import Client, client_of
from tests.concurrency import repeat_concurrently
from tests.loopback import Recorder
from tests.notifications.test_destinations import HOOK, PATH, webhook
from tests.notifications.test_devices import SUBSCRIBE, body

pytestmark = pytest.mark.django_db(transaction=True)
# More than the limit of ten attempts. The tests of the limits of twenty send more.
CONCURRENT_REQUESTS = 12


@pytest.fixture
def repeat(alice: User) -> Callable[..., Counter[int]]:
    """A function that runs `send(client, number)` `times` times concurrently and counts the statuses."""

    def send_concurrently(send: Callable[[Client, int], Any], times: int = CONCURRENT_REQUESTS) -> Counter[int]:
        return repeat_concurrently(alice, times, send)

    return send_concurrently


def test_concurrent_creations_respect_both_limits(repeat: Callable[..., Counter[int]]) -> None:
    statuses = repeat(lambda client, number: client.call("post", PATH, webhook(url=f"{HOOK}/{number}")))
    assert statuses == {201: 5, 409: 5, 429: 2}
    assert Destination.unscoped.rows().count() == 5


def test_concurrent_creations_with_one_url_create_one_destination(repeat: Callable[..., Counter[int]]) -> None:
    statuses = repeat(lambda client, number: client.call("post", PATH, webhook()))
    assert statuses == {201: 1, 409: 9, 429: 2}
    assert Destination.unscoped.rows().count() == 1


def test_concurrent_updates_to_one_url_succeed_once(repeat: Callable[..., Counter[int]], alice: User) -> None:
    client = client_of(alice)
    ids = [
        client.ok("post", PATH, webhook(url=f"{HOOK}/{number}"), status=201)["endpoint"]["id"] for number in range(5)
    ]
    statuses = repeat(lambda client, number: client.call("put", f"{PATH}/{ids[number % 5]}", {"url": f"{HOOK}/same"}))
    assert Destination.unscoped.rows().filter(url=f"{HOOK}/same").count() == 1
    assert statuses[200] >= 1
    assert set(statuses) <= {200, 409, 429}


def test_concurrent_tests_of_a_destination_are_limited_to_five(
    repeat: Callable[..., Counter[int]], alice: User, receiver: Recorder
) -> None:
    created = client_of(alice).ok("post", PATH, webhook(url=receiver.url), status=201)
    path = f"{PATH}/{created['endpoint']['id']}/test"
    assert repeat(lambda client, number: client.call("post", path)) == {200: 5, 429: 7}
    assert len(receiver.received) == 5


def test_concurrent_tests_of_all_destinations_are_limited_to_25(
    repeat: Callable[..., Counter[int]], alice: User, receiver: Recorder
) -> None:
    client = client_of(alice)
    bodies = [webhook(url=f"{receiver.url}/{number}") for number in range(5)]
    ids = [client.ok("post", PATH, body, status=201)["endpoint"]["id"] for body in bodies]
    for number in range(5):
        client.ok("put", f"{PATH}/{ids[0]}", {"url": f"{receiver.url}/new/{number}"})
    statuses = repeat(lambda client, number: client.call("post", f"{PATH}/{ids[number % 5]}/test"), times=24)
    assert statuses == {200: 20, 429: 4}
    assert len(receiver.received) == 20


def test_concurrent_subscriptions_are_limited_to_twenty_devices(repeat: Callable[..., Counter[int]]) -> None:
    statuses = repeat(
        lambda client, number: client.call("post", SUBSCRIBE, body(f"https://push.example/{number}")), times=24
    )
    assert statuses == {201: 20, 409: 4}
    assert PushSubscription.unscoped.rows().count() == 20


def test_concurrent_subscriptions_of_one_endpoint_create_one_device(repeat: Callable[..., Counter[int]]) -> None:
    assert repeat(lambda client, number: client.call("post", SUBSCRIBE, body())) == {201: CONCURRENT_REQUESTS}
    assert PushSubscription.unscoped.rows().count() == 1


def test_endpoint_subscribed_by_two_accounts_belongs_to_one(repeat: Callable[..., Counter[int]], mallory: User) -> None:
    theirs = [client_of(mallory) for _ in range(CONCURRENT_REQUESTS)]

    def send(client: Client, number: int) -> Any:
        return (client if number % 2 else theirs[number]).call("post", SUBSCRIBE, body())

    assert repeat(send) == {201: CONCURRENT_REQUESTS}
    assert PushSubscription.unscoped.rows().count() == 1
