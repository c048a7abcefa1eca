"""Runs calls and requests at the same moment, in threads. For transactional tests."""

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


def at_once(*calls: Callable[[], Result]) -> list[Result]:
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


def statuses_at_once(owner: User, *requests: Callable[[Client], Any]) -> list[int]:
    """Send requests of `owner` that start together; returns their statuses, in order."""
    calls = (partial(request, client_of(owner)) for request in requests)
    return [int(answer.status_code) for answer in at_once(*calls)]


def requests_at_once(owner: User, number: int, send: Callable[[Client, int], Any]) -> Counter[int]:
    """Run `send(client, i)` for i below `number` at the same moment; counts the statuses."""
    return Counter(statuses_at_once(owner, *(lambda client, i=i: send(client, i) for i in range(number))))
