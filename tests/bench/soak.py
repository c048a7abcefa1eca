"""What the processes hold before, under and after a mixed load: `python -m tests.bench soak`, about three minutes each.

The goal: a minute after the load ends at most 1.3 times of what they held idle.
"""

import threading
import time
from collections.abc import Callable
from itertools import count

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Client, Instance, fill, served

CLIENTS, LOAD_SECONDS, REST_SECONDS = 8, 60, 60
LARGE = ("/api/relationships", "/api/people?includeAll=true", "/api/people/search-index", "/api/user/export",
         "/api/dashboard/graph", "/api/vcard/export", "/api/people/duplicates")  # fmt: skip


def soak(shared: SharedData) -> list[Figure]:
    with served(shared.database) as instance:
        for _ in range(20):
            instance.client().ask("GET", "/api/people")
        time.sleep(5)
        idle = instance.memory()
        fill(instance)
        most = _load(instance)
        time.sleep(REST_SECONDS)
        after = instance.memory()
    notes = {"idle": idle, "at most under load": most, "a minute after": after}
    text = ", ".join(f"{name} {held:.0f} MB" for name, held in notes.items())
    return [Figure("soak: memory of all processes", LOAD_SECONDS, note=f"{text}: {after / idle:.2f} times idle")]


def _load(instance: Instance) -> float:
    """Ask small and large things with 8 clients; returns the most that was held meanwhile."""
    end = time.monotonic() + LOAD_SECONDS
    numbers = count()

    def work(client: Client) -> None:
        while time.monotonic() < end:
            for request in _mixed(client, instance, next(numbers)):
                request()

    threads = [threading.Thread(target=work, args=(instance.client(),)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    most = 0.0
    while time.monotonic() < end:
        most = max(most, instance.memory())
        time.sleep(1)
    for thread in threads:
        thread.join()
    return most


def _mixed(client: Client, instance: Instance, number: int) -> list[Callable[[], object]]:
    person = instance.people[number * 37 % len(instance.people)]
    return [
        lambda: client.ask("GET", f"/api/people/{person}"),
        lambda: client.ask("GET", f"/api/people?offset={number % 9_000}"),
        lambda: client.ask("GET", "/api/people/search?q=lom"),
        lambda: client.ask("POST", "/api/people", {"name": "Zelda", "surname": f"Quist {number}"}),
        lambda: client.ask("PUT", f"/api/people/{person}", {"nickname": f"N{number}"}),
        lambda: client.ask("GET", f"/api/people/{person}/graph"),
        lambda: client.ask("GET", LARGE[number % len(LARGE)]),
    ]


BENCHES = [("soak", soak)]
