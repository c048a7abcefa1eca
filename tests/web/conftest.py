"""Fixtures of the journeys: the whole service on this test's database, and browsers in which alice has a session."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import User
from notifications.models.deliveries import record_heartbeat
from tests.browser import Chromium, chromium, started_browser
from tests.builders import verify_email
from tests.client import Client, client_of
from tests.contacts_project.server.server_thread import RunningServer, serve_whole_service

__all__ = ["chromium", "started_browser"]

PASSWORD = "Analytical-1843"
expect.set_options(timeout=30_000)

# As somebody has set it who wants messages to stay longer: how soon a busy machine presses an undo proves nothing.
MESSAGES = "contacts messages"
_LONG_MESSAGES = f"try {{ localStorage.setItem('{MESSAGES}', 'long') }} catch {{}}"  # refused on about:blank

_FOLLOW = """(path) => {
  const left = document.querySelector("h1");
  // Another filter of a page is the same page.
  if (new URL(path, location.href).pathname !== location.pathname) left?.setAttribute("data-left", "");
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}"""


def follow(page: Page, path: str) -> None:
    """Show another page of the client as a link to it does: nothing is loaded anew."""
    page.evaluate(_FOLLOW, f"/app{path}")
    expect(page.locator("h1:not([data-left])")).to_be_visible()


@dataclass
class Web:
    """Opens the client. Each context is a browser of its own: its storage and its session are not shared."""

    chromium: Chromium
    base: str
    owner: User
    contexts: list[BrowserContext] = field(default_factory=list)

    def context(self, owner: User | None = None, **options: Any) -> BrowserContext:
        """A browser in which the owner has a session. `service_workers="allow"` for tests of an installed worker."""
        context = self.visitor(**options)
        self.sign_in(context, owner or self.owner)
        return context

    def visitor(self, **options: Any) -> BrowserContext:
        """A browser in which nobody is signed in."""
        # Without motion, because axe measures the contrast of a dialog that is still fading in.
        still = {"service_workers": "block", "locale": "en-GB", "reduced_motion": "reduce"}
        options = {**still, "base_url": self.base, **options}
        context = self.chromium.context(**options)
        context.add_init_script(_LONG_MESSAGES)
        self.contexts.append(context)
        return context

    def sign_in(self, context: BrowserContext, owner: User) -> None:
        context.add_cookies([self.session_cookie(owner, self.base)])

    def session_cookie(self, owner: User, url: str) -> Any:
        client = Client()
        client.force_login(owner)
        return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}

    def open(self, path: str = "/", context: BrowserContext | None = None) -> Page:
        """A page of the client that has read the account."""
        page = (context or self.context()).new_page()
        page.goto(f"{self.base}/app{path}")
        expect(page.locator("h1")).to_be_visible()
        return page

    def synced(self, page: Page) -> None:
        """Wait until nothing is unsent."""
        expect(page.locator("html")).to_have_attribute("data-sync", "idle")

    def eventually(self, page: Page, is_true: Callable[[], bool]) -> None:
        """Wait until the check is true, such as what an edit has become in the database; fail after thirty seconds."""
        deadline = time.monotonic() + 30
        while not is_true():
            assert time.monotonic() < deadline, "still not true after thirty seconds"
            page.wait_for_timeout(50)


@pytest.fixture
def web(chromium: Chromium, live: RunningServer, alice: User) -> Iterator[Web]:
    alice.set_password(PASSWORD)
    alice.save()
    verify_email(alice)
    web = Web(chromium, live.base, alice)
    yield web
    for context in web.contexts:  # before the service ends, which they would complain about
        context.close()


@pytest.fixture
def live(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[RunningServer]:
    """The whole service, with photos of its own and threads enough for a few tabs with streams."""
    settings.MEDIA_ROOT = tmp_path / "media"
    record_heartbeat("due_scan", timezone.now())  # without a worker, the service would be unfit after five minutes
    with serve_whole_service(threads=8) as running:
        yield running


@pytest.fixture
def elsewhere(alice: User) -> Client:
    """Another device of alice: her API client."""
    return client_of(alice)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a journey that fails once more, and report the second run.

    Beside five other test processes on two cores a browser may get no time for longer than a page, or a person, waits.
    A journey that fails twice has failed. What failed the first time is printed, because it may be a race.
    """
    if not isinstance(item, pytest.Function) or "web" not in item.fixturenames:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = [report for report in reports if report.failed]
    if failed:
        print(f"\nRun again: {item.nodeid}\n{failed[0].longreprtext[-2000:]}", file=sys.__stderr__, flush=True)
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
