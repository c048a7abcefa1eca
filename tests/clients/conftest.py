"""Pages with the TypeScript kit, with the whole service on the test's database."""

from collections.abc import Iterator

import pytest

from accounts.models import User
from tests.browser import Chromium, chromium, started_browser
from tests.clients.kit_pages import KitPages, kit_scripts
from tests.contacts_project.server.server_thread import RunningServer

__all__ = ["chromium", "kit_scripts", "started_browser"]


@pytest.fixture
def kit(chromium: Chromium, kit_scripts: dict[str, str], server: RunningServer, alice: User) -> Iterator[KitPages]:
    """Pages with the kit, in which alice has a session."""
    yield KitPages(chromium, kit_scripts, server, alice)
    for context in chromium.browser.contexts:  # before the service ends, which their streams would complain about
        context.close()
