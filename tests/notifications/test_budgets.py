"""Limits on how often an account may make the service send requests to other servers."""

import datetime as dt
from typing import Any

import pytest
import time_machine

from tests.client import Client
from tests.loopback import Recorder
from tests.notifications.test_destinations import HOOK, PATH, create, webhook

pytestmark = pytest.mark.sqlite_suffices

NOON = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)


def retry_after(response: Any) -> int:
    """Assert a 429; returns its Retry-After in seconds, which header and body must agree on."""
    assert response.status_code == 429, response.content
    seconds = int(response["Retry-After"])
    assert response.json()["retryAfter"] == seconds
    return seconds


def minutes(number: float) -> dt.timedelta:
    return dt.timedelta(minutes=number)


def test_creations_are_limited_to_ten_per_hour(api: Client, stranger: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        for number in range(10):
            clock.move_to(NOON + minutes(number))
            path = f"{PATH}/{create(api)['endpoint']['id']}"
            api.ok("delete", path)
        clock.move_to(NOON + minutes(30))
        assert retry_after(api.call("post", PATH, webhook())) == 30 * 60
        create(stranger)
        clock.move_to(NOON + minutes(60) - dt.timedelta(seconds=1))
        assert retry_after(api.call("post", PATH, webhook())) == 1
        clock.move_to(NOON + minutes(60))
        create(api)
        assert retry_after(api.call("post", PATH, webhook(url=f"{HOOK}/2"))) == 60


def test_invalid_bodies_do_not_count_but_attempts_do(api: Client) -> None:
    for _ in range(12):
        api.ok("post", PATH, webhook(label=""), status=400)
        api.ok("post", PATH, webhook(url="https://10.0.0.1/"), status=400)
    create(api)
    for _ in range(9):
        api.ok("post", PATH, webhook(), status=409)
    retry_after(api.call("post", PATH, webhook()))


def test_tests_of_a_destination_are_limited_to_five_per_fifteen_minutes(api: Client, receiver: Recorder) -> None:
    first = create(api, url=f"{receiver.url}/1")["endpoint"]["id"]
    second = create(api, url=f"{receiver.url}/2")["endpoint"]["id"]
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(5):
            assert api.ok("post", f"{PATH}/{first}/test") == {"ok": True}
        assert retry_after(api.call("post", f"{PATH}/{first}/test")) == 15 * 60
        assert api.ok("post", f"{PATH}/{second}/test") == {"ok": True}
        clock.move_to(NOON + minutes(15))
        assert api.ok("post", f"{PATH}/{first}/test") == {"ok": True}
    assert len(receiver.received) == 7


def test_tests_and_url_changes_share_a_limit_of_25(api: Client, receiver: Recorder) -> None:
    ids = [create(api, url=f"{receiver.url}/{number}")["endpoint"]["id"] for number in range(5)]
    with time_machine.travel(NOON, tick=False) as clock:
        for id_ in ids:
            for _ in range(4):
                api.ok("post", f"{PATH}/{id_}/test")
        for number in range(5):
            api.ok("put", f"{PATH}/{ids[0]}", {"url": f"{receiver.url}/new/{number}"})
        assert retry_after(api.call("post", f"{PATH}/{ids[1]}/test")) == 15 * 60
        assert retry_after(api.call("put", f"{PATH}/{ids[1]}", {"url": f"{receiver.url}/more"})) == 15 * 60
        # Requests that cause no network call are not retry_after.
        api.ok("put", f"{PATH}/{ids[1]}", {"label": "New", "enabled": False})
        api.ok("put", f"{PATH}/{ids[1]}", {"rotateSecret": True})
        clock.move_to(NOON + minutes(15))
        api.ok("post", f"{PATH}/{ids[1]}/test")


def test_url_changes_do_not_count_as_tests_of_the_destination(api: Client, receiver: Recorder) -> None:
    id_ = create(api, url=receiver.url)["endpoint"]["id"]
    for number in range(6):
        api.ok("put", f"{PATH}/{id_}", {"url": f"{receiver.url}/{number}"})
    for _ in range(5):
        api.ok("post", f"{PATH}/{id_}/test")
    retry_after(api.call("post", f"{PATH}/{id_}/test"))


@pytest.mark.parametrize("method", ["put", "post"])
def test_limit_remains_after_deleting_the_destination(api: Client, receiver: Recorder, method: str) -> None:
    for number in range(5):
        id_ = create(api, url=f"{receiver.url}/{number}")["endpoint"]["id"]
        for _ in range(5):
            api.ok("post", f"{PATH}/{id_}/test")
        api.ok("delete", f"{PATH}/{id_}")
    id_ = create(api, url=receiver.url)["endpoint"]["id"]
    path, body = (f"{PATH}/{id_}/test", None) if method == "post" else (f"{PATH}/{id_}", {"url": f"{receiver.url}/x"})
    retry_after(api.call(method, path, body))
