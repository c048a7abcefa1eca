"""Runs calls and requests concurrently, in threads, for transactional tests; and waits for what other threads do."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any, TypeVar

from django.db import connections

from accounts.models import User
from tests.client import Client, client_of

Result = TypeVar("Result")


def run_concurrently(*calls: Callable[[], Result]) -> list[Result]:
    """Run the calls in threads that start together, each with its own database connections; returns their results."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        barrier.wait(timeout=30)
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def send_concurrently(owner: User, *requests: Callable[[Client], Any]) -> list[int]:
    """Send requests of `owner` that start together; returns their statuses, in the order of `requests`."""
    calls = (partial(request, client_of(owner)) for request in requests)
    return [int(response.status_code) for response in run_concurrently(*calls)]


def repeat_concurrently(owner: User, number: int, send: Callable[[Client, int], Any]) -> Counter[int]:
    """Run `send(client, i)` for i below `number` concurrently; returns how often each status was answered."""
    return Counter(send_concurrently(owner, *(lambda client, i=i: send(client, i) for i in range(number))))


def wait_until(is_true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until `is_true` returns true; fails after this time."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
