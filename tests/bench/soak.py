"""The memory of the processes before, during and after a mixed load: `python -m tests.bench soak`, some minutes each.

The goal: a minute after the load ends, at most 1.3 times the idle memory. The load is a fixed number of requests, not a
duration, so that figures of two runs can be compared even if one machine is busier. SOAK_PEOPLE and
SOAK_ROUNDS in the environment make it larger or smaller.
"""

import os
import threading
import time
from collections.abc import Callable

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Client, Instance, fill, served

CLIENTS, REST_SECONDS = 8, 60
PEOPLE = int(os.environ.get("SOAK_PEOPLE", "10000"))
ROUNDS = int(os.environ.get("SOAK_ROUNDS", "400"))
LARGE = ("/api/relationships", "/api/people?includeAll=true", "/api/people/search-index", "/api/user/export",
         "/api/dashboard/graph", "/api/vcard/export", "/api/people/duplicates")  # fmt: skip

ProcessMemory = list[tuple[str, float]]  # MB by process


def soak(shared: SharedData) -> list[Figure]:
    with served(shared.database) as instance:
        for _ in range(20):
            instance.client().ask("GET", "/api/people")
        time.sleep(5)
        idle = instance.memory()
        fill(instance, PEOPLE)
        start = time.monotonic()
        peak = run_load(instance)
        seconds = time.monotonic() - start
        time.sleep(REST_SECONDS)
        after = instance.memory()
    ratio = total_memory(after) / total_memory(idle)
    memory = {"idle": idle, "at most under load": peak, "a minute after": after}
    text = ", ".join(f"{name} {format_memory(processes)}" for name, processes in memory.items())
    name = f"soak: {PEOPLE:,} people, {ROUNDS * REQUESTS_OF_ROUND:,} requests"
    return [Figure(name, seconds, note=f"{text}: {ratio:.2f} times idle")]


def format_memory(processes: ProcessMemory) -> str:
    parts = " + ".join(f"{name} {memory:.0f}" for name, memory in processes)
    return f"{total_memory(processes):.0f} MB ({parts})"


def total_memory(processes: ProcessMemory) -> float:
    return sum(memory for _, memory in processes)


def run_load(instance: Instance) -> ProcessMemory:
    """Send small and large requests with 8 clients; returns the memory at its maximum."""
    numbers = iter(range(ROUNDS))

    def work(client: Client) -> None:
        for number in numbers:
            for request in send_mixed_requests(client, instance, number):
                request()

    threads = [threading.Thread(target=work, args=(instance.client(),)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    peak = instance.memory()
    while any(thread.is_alive() for thread in threads):
        peak = max(peak, instance.memory(), key=total_memory)
        time.sleep(1)
    return peak


REQUESTS_OF_ROUND = 7


def send_mixed_requests(client: Client, instance: Instance, number: int) -> list[Callable[[], object]]:
    person = instance.people[number * 37 % len(instance.people)]
    return [
        lambda: client.ask("GET", f"/api/people/{person}"),
        lambda: client.ask("GET", f"/api/people?offset={number * 37 % PEOPLE}"),
        lambda: client.ask("GET", "/api/people/search?q=lom"),
        lambda: client.ask("POST", "/api/people", {"name": "Zelda", "surname": f"Quist {number}"}),
        lambda: client.ask("PUT", f"/api/people/{person}", {"nickname": f"N{number}"}),
        lambda: client.ask("GET", f"/api/people/{person}/graph"),
        lambda: client.ask("GET", LARGE[number % len(LARGE)]),
    ]


BENCHES = [("soak", soak)]
