"""A device: a local copy in a file, a network with injected faults, and a program that can be killed at any request."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from contacts_client import Connection, Copy, Store
from contacts_client.connection import RetryingTransport

Outcome = Callable[[httpx.Request], str]


class KilledError(BaseException):
    """Ends the program, as a kill would."""


class FaultyTransport(httpx.BaseTransport):
    """Decides the outcome of each request: `ok`; `unsent` or `unanswered` (network faults); or the program is `killed
    before` the request is sent, or `killed after` it was executed."""

    def __init__(self) -> None:
        self.inner = httpx.HTTPTransport(verify=False)  # only plain HTTP is used, and loading certificates takes 30 ms
        self.outcome: Outcome = lambda request: "ok"
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        outcome = self.outcome(request)
        if outcome == "unsent":
            raise httpx.ConnectError("the tunnel")
        if outcome == "killed before":
            raise KilledError
        self.requests.append(request)
        response = self.inner.handle_request(request)
        if outcome in {"unanswered", "killed after"}:
            response.read()
            response.close()
            raise KilledError if outcome == "killed after" else httpx.ReadError("the tunnel")
        return response

    def close(self) -> None:
        self.inner.close()


class Device:
    """A device with a local copy. After `restart`, `copy` is a new object that uses the same file."""

    def __init__(self, base_url: str, token: str, path: Path, name: str) -> None:
        self.base_url, self.token, self.path, self.name = base_url, token, path, name
        self.network = FaultyTransport()
        self._open()

    def _open(self) -> None:
        retrying = RetryingTransport(self.network, attempts=3, sleep=lambda seconds: None)
        self.connection = Connection(self.base_url, self.token, transport=retrying)
        self.copy = Copy(Store(self.path), self.connection)

    def restart(self) -> None:
        """Restart after a kill: the memory of the program is lost."""
        self.copy.store.close()
        self.network = FaultyTransport()
        self.connection.close()
        self._open()

    def close(self) -> None:
        self.copy.store.close()
        self.connection.close()

    @contextmanager
    def faulty_network(self, outcome: Outcome) -> Iterator[None]:
        self.network.outcome = outcome
        try:
            yield
        finally:
            self.network.outcome = lambda request: "ok"

    def people(self) -> dict[str, Any]:
        """The people of the local copy, by name."""
        return {person["name"]: person for person in self.copy.all("person")}


def settle(*devices: Device) -> None:
    """Sync all devices until no edit is pending and no device receives anything new."""
    for _ in range(10):
        reports = [device.copy.sync() for device in devices]
        if not any(report.pulled or report.pushed for report in reports):
            return
    raise AssertionError("the devices do not settle")
