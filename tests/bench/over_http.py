"""Times seen by clients: 8 persistent connections, two web processes, an account of 10,000 people.

The floor is the smallest response of the same run, GET /api/version: the cost of the server, Django and the log line.
The clients run on the same machine, so the figures include their own time. The CPU time of the instance's processes is
reported, too, because it does not depend on other load on the machine.

"writes under load" measures the four frequent writes with four web processes, and adds the CPU time of PostgreSQL and
of the clients. Divided by the number of cores, their sum is the least time between two requests: the rate that allows
is what a machine without other work can reach at most.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from django.db import connection

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Client, Instance, cpu_ticks, fill, process_tree, served

CLIENTS, SECONDS = 8, 3
WRITES = ("create", "update", "relationship", "merge")
Request = Callable[[Client, int], object]


def over_http(shared: SharedData) -> list[Figure]:
    """Measure the median time and the requests per second of each request."""
    with served(shared.database) as instance:
        fill(instance)
        smallest = measure(instance, lambda client, _: client.ask("GET", "/api/version")).median
        figures = []
        for name, request in make_requests(instance):
            found = measure(instance, request)
            note = f"{found.rate:,.0f} requests a second, {CLIENTS} clients, {found.service * 1000:.1f} ms of CPU each"
            figures.append(Figure(f"HTTP: {name}", found.median, None, smallest, note))
        return figures


def writes_under_load(shared: SharedData) -> list[Figure]:
    """Measure what each write costs the service, PostgreSQL and the clients, and how many a second that allows."""
    with served(shared.database, WEB_WORKERS="4") as instance:
        fill(instance)
        figures = []
        for name, request in make_requests(instance):
            if name not in WRITES:
                continue
            measure(instance, request)  # each process compiles its statements
            found = measure(instance, request)
            parts = {"service": found.service, "PostgreSQL": found.database, "clients": found.clients}
            shares = ", ".join(f"{part} {seconds * 1000:.1f}" for part, seconds in parts.items() if seconds)
            most = (os.cpu_count() or 1) / sum(parts.values())
            note = (
                f"{found.rate:,.0f} a second, at most {most:,.0f} by ms of CPU: {shares}; load {os.getloadavg()[0]:.0f}"
            )
            figures.append(Figure(f"writes: {name}", found.median, None, None, note))
        return figures


class Measured(NamedTuple):
    """What `measure` has found. CPU times are seconds for each request."""

    median: float
    """Seconds that a client waited."""
    rate: float
    """Requests per second."""
    service: float
    """CPU time of the instance's processes."""
    database: float
    """CPU time of PostgreSQL's processes; 0 on SQLite."""
    clients: float
    """CPU time of this process."""


def measure(instance: Instance, request: Request) -> Measured:
    """Measure 8 clients that send without pause."""
    spans: list[float] = []
    numbers = count()
    before = instance.cpu_seconds(), _database_cpu(), time.process_time()
    start = time.perf_counter()

    def work(client: Client) -> None:
        while (begun := time.perf_counter()) < start + SECONDS:
            request(client, next(numbers))
            spans.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=work, args=(instance.client(),)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(spans) / (time.perf_counter() - start)
    after = instance.cpu_seconds(), _database_cpu(), time.process_time()
    cpu = ((now - then) / len(spans) for now, then in zip(after, before, strict=True))
    return Measured(statistics.median(spans), rate, *cpu)


def _database_cpu() -> float:
    """CPU seconds of all processes of PostgreSQL's server, which must be on this machine; 0 on SQLite."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    server = int(fields[1])  # proc(5): the parent
    return sum(cpu_ticks(pid) for pid in process_tree(server)) / os.sysconf("SC_CLK_TCK")


def make_requests(instance: Instance) -> Iterator[tuple[str, Request]]:
    """The measured requests. Each uses other people in turn, and none uses people who have been merged."""
    people, step = instance.people[:5_000], 37
    couples = iter(zip(instance.people[5_000::2], instance.people[5_001::2], strict=False))
    numbers, pairs = count(), count()
    person = {
        "name": "Zelda",
        "phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0000"}],
        "emails": [{"type": "home", "email": "zelda@example.org"}],
        "importantDates": [{"type": "BIRTHDAY", "date": "1965-12-10"}],
    }

    def of_one(tail: str = "") -> Request:
        return lambda client, n: client.ask("GET", f"/api/people/{people[n * step % len(people)]}{tail}")

    def relate(client: Client, _: int) -> object:
        half, n = len(people) // 2, next(pairs)
        first, second = people[n % half], people[half + (n + n // half) % half]
        body = {"personId": first, "relatedPersonId": second, "relationshipTypeId": instance.kind}
        return client.ask("POST", "/api/relationships", body)

    def merge(client: Client, _: int) -> object:
        primary, secondary = next(couples)
        return client.ask("POST", "/api/people/merge", {"primaryId": primary, "secondaryId": secondary})

    yield "one person", of_one()
    yield "page of 100", lambda client, n: client.ask("GET", f"/api/people?offset={n * step % 9_000}")
    yield (
        "page of 100, includeDetails=false",
        lambda client, n: client.ask("GET", f"/api/people?includeDetails=false&offset={n * step % 9_000}"),
    )
    yield "search", lambda client, _: client.ask("GET", "/api/people/search?q=banban")
    yield "graph of one", of_one("/graph")
    yield "orphans of one", of_one("/orphans")
    yield "duplicates of one", of_one("/duplicates")
    yield (
        "create",
        lambda client, _: client.ask("POST", "/api/people", {**person, "surname": f"Quist {next(numbers)}"}),
    )
    yield (
        "update",
        lambda client, n: client.ask("PUT", f"/api/people/{people[n * step % len(people)]}", {"notes": f"No. {n}"}),
    )
    yield "relationship", relate
    yield "merge", merge
    yield "search index", lambda client, _: client.ask("GET", "/api/people/search-index")
    yield "whole graph", lambda client, _: client.ask("GET", "/api/dashboard/graph")


BENCHES = [("over HTTP", over_http), ("writes under load", writes_under_load)]
