"""Devices with the Python client and pages with the TypeScript kit, with the whole service on the test's database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import User
from tests.browser import Chromium, chromium, started_browser
from tests.builders import make_token
from tests.clients.devices import Device
from tests.clients.kit_pages import KitPages, kit_scripts
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


__all__ = ["chromium", "kit_scripts", "started_browser"]


@pytest.fixture
def kit(chromium: Chromium, kit_scripts: dict[str, str], server: RunningServer, alice: User) -> Iterator[KitPages]:
    """Pages with the kit, in which alice has a session."""
    yield KitPages(chromium, kit_scripts, server, alice)
    for context in chromium.browser.contexts:  # before the service ends, which their streams would complain about
        context.close()
