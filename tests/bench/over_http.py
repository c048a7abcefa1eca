"""Times seen by clients: 8 persistent connections, two web processes, an account of 10,000 people.

The floor is the smallest response of the same run, GET /api/version: the cost of the server, Django and the log line.
The clients run on the same machine, so the figures include their own time. The CPU time of the instance's processes is
reported, too, because it does not depend on other load on the machine.
"""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Client, Instance, fill, served

CLIENTS, SECONDS = 8, 3
Request = Callable[[Client, int], object]


def over_http(shared: SharedData) -> list[Figure]:
    """Measure the median time and the requests per second of each request."""
    with served(shared.database) as instance:
        fill(instance)
        smallest, *_ = measure(instance, lambda client, _: client.ask("GET", "/api/version"))
        figures = []
        for name, request in make_requests(instance):
            median, rate, cpu = measure(instance, request)
            note = f"{rate:,.0f} requests a second, {CLIENTS} clients, {cpu * 1000:.1f} ms of CPU each"
            figures.append(Figure(f"HTTP: {name}", median, None, smallest, note))
        return figures


def measure(instance: Instance, request: Request) -> tuple[float, float, float]:
    """Median in seconds, requests per second and CPU seconds per request, of 8 clients that send without pause."""
    spans: list[float] = []
    numbers = count()
    start, cpu = time.perf_counter(), instance.cpu_seconds()

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
    return statistics.median(spans), rate, (instance.cpu_seconds() - cpu) / len(spans)


def make_requests(instance: Instance) -> Iterator[tuple[str, Request]]:
    """The measured requests. Each uses other people in turn, and none uses people who have been merged."""
    people, step = instance.people[:5_000], 37
    couples = iter(zip(instance.people[5_000::2], instance.people[5_001::2], strict=False))
    numbers = count()
    person = {
        "name": "Zelda",
        "phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0000"}],
        "emails": [{"type": "home", "email": "zelda@example.org"}],
        "importantDates": [{"type": "BIRTHDAY", "date": "1965-12-10"}],
    }

    def of_one(tail: str = "") -> Request:
        return lambda client, n: client.ask("GET", f"/api/people/{people[n * step % len(people)]}{tail}")

    def relate(client: Client, n: int) -> object:
        half = len(people) // 2
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


BENCHES = [("over HTTP", over_http)]
