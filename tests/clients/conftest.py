"""Devices that use the Python client with the whole service, on the test's database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import User
from tests.builders import make_token
from tests.clients.devices import Device
from tests.contacts_project.server.server_thread import RunningServer


@pytest.fixture
def device(server: RunningServer, alice: User, tmp_path: Path) -> Iterator[Callable[[str], Device]]:
    """A function that creates a device of alice by name."""
    made: list[Device] = []

    def make(name: str) -> Device:
        made.append(Device(server.base, make_token(alice), tmp_path / f"{name}.sqlite3", name))
        return made[-1]

    yield make
    for each in made:
        each.close()
