"""The Python client's copy of an account of 10,000 people: the first sync, one after a change, one without changes.

The time is the client's CPU time; the note contains the elapsed time.
"""

import sys
import tempfile
import time
from pathlib import Path

import httpx

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Client, fill, served

sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python"))

from contacts_client import Connection, Copy, Store


class CountingTransport(httpx.HTTPTransport):
    """Counts requests, and the bytes of their responses as transferred."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = self.bytes = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        self.requests += 1
        self.bytes += int(response.headers.get("Content-Length", 0))
        return response


def client_copies(shared: SharedData) -> list[Figure]:
    """Measure syncs: time, requests and bytes."""
    with served(shared.database) as instance, tempfile.TemporaryDirectory() as folder:
        fill(instance)
        network = CountingTransport()
        connection = Connection(f"http://127.0.0.1:{instance.port}", instance.bearer, transport=network)
        copy = Copy(Store(Path(folder) / "copy.sqlite3"), connection)
        figures = [measure_sync("first sync", copy, network)]
        one = instance.people[-1]
        copy.update("person", one, {"nickname": "Edited here"})
        Client(instance).ask("PUT", f"/api/people/{instance.people[0]}", {"nickname": "Edited elsewhere"})
        figures += [
            measure_sync("one edit here, one elsewhere", copy, network),
            measure_sync("nothing new", copy, network),
        ]
        assert copy.get("person", instance.people[0])["nickname"] == "Edited elsewhere"  # type: ignore[index]
        assert sum(1 for _ in copy.all("person")) == len(instance.people)
        copy.store.close()
        connection.close()
        return figures


def measure_sync(name: str, copy: Copy, network: CountingTransport) -> Figure:
    network.requests = network.bytes = 0
    cpu, start = time.process_time(), time.perf_counter()
    report = copy.sync()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    note = (
        f"{report.pulled:,} changes, {network.requests} requests, {network.bytes:,} bytes, {seconds:.1f} s by the clock"
    )
    return Figure(f"client's copy: {name}", cpu, None, None, note)


BENCHES = [("client's copy", client_copies)]
