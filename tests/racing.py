"""Many requests at the same moment."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection

from accounts.models import User
from tests.client import Client, client_of


def at_once(owner: User, number: int, send: Callable[[Client, int], Any]) -> Counter[int]:
    """Run `send(client, i)` in `number` threads at the same moment; counts the statuses. For transactional tests."""
    clients = [client_of(owner) for _ in range(number)]
    barrier = Barrier(number)

    def one(position: int) -> int:
        try:
            barrier.wait(timeout=30)
            return int(send(clients[position], position).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return Counter(pool.map(one, range(number)))
