"""A Chromium for tests: the binary of the npm package @sparticuz/chromium, or one that is installed.

`make test` thus needs no browser of its own; CHROMIUM names another one. Tests that use it are skipped, and counted as
such, where there is neither. It is driven by playwright from PyPI.
"""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from tests.npm import NODE, WEB, install_packages

# --no-sandbox: tests may run as root, in containers without user namespaces.
# Local network access: a page of a host name that is mapped to this machine may send requests to it.
ARGUMENTS = (
    "--disable-features=LocalNetworkAccessChecks",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)
_UNPACK = (
    "import fs from 'node:fs'; import zlib from 'node:zlib'; import { pipeline } from 'node:stream/promises';"
    "const [from, to] = process.argv.slice(1); await pipeline(fs.createReadStream(from), zlib.createBrotliDecompress(),"
    "fs.createWriteStream(`${to}.part`, { mode: 0o755 })); fs.renameSync(`${to}.part`, to);"
)


@cache
def find_chromium() -> str | None:
    """The path of the browser, unpacked on first use; None if there is none."""
    if given := os.environ.get("CHROMIUM"):
        return given
    install_packages(WEB)
    package = WEB / "node_modules/@sparticuz/chromium"
    packed, binary = package / "bin/chromium.br", package / "chromium"
    if packed.exists():
        with packed.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not binary.exists():
                subprocess.run([NODE, "--input-type=module", "-e", _UNPACK, str(packed), str(binary)], check=True)
        if subprocess.run([binary, "--version"], capture_output=True, check=False).returncode == 0:
            return str(binary)
    return shutil.which("chromium") or shutil.which("google-chrome")


@dataclass
class Complaints:
    """What pages wrote to the console and should not have: violations of the policy, errors, exceptions.

    `expected` are patterns of lines that a test causes itself, such as the browser's own line for a refused request.
    """

    lines: list[str] = field(default_factory=list)
    # The browser reports each failed request. That a record was changed elsewhere, or a cursor has
    # expired, is no fault; nor that an import is asked about which a busy service has not begun.
    expected: list[str] = field(
        default_factory=lambda: [
            "the server responded with a status of 41[02]",
            "the server responded with a status of 404 .*/api/imports/",
        ]
    )

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: self._note(message.type, f"{message.text} {message.location['url']}"))
        page.on("pageerror", lambda error: self._note("error", str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" or "Content Security Policy" in text:
            self.lines.append(text)

    def unexpected(self) -> list[str]:
        return [line for line in self.lines if not any(re.search(pattern, line) for pattern in self.expected)]


@dataclass
class Chromium:
    """Opens contexts (profiles in memory) and persistent profiles; each page is watched for complaints."""

    playwright: Playwright
    browser: Browser
    complaints: Complaints

    def context(self, **options: Any) -> BrowserContext:
        context = self.browser.new_context(**options)
        context.set_default_timeout(30_000)
        context.on("page", self.complaints.watch)
        return context

    @contextmanager
    def profile(self, folder: Path, *arguments: str, **options: Any) -> Iterator[BrowserContext]:
        """A profile on disk, which survives the browser; needed for what a context in memory refuses, such as push."""
        context = self.playwright.chromium.launch_persistent_context(
            str(folder), executable_path=find_chromium(), args=[*ARGUMENTS, *arguments], **options
        )
        context.set_default_timeout(30_000)
        for page in context.pages:
            self.complaints.watch(page)
        context.on("page", self.complaints.watch)
        try:
            yield context
        finally:
            context.close()


@pytest.fixture(scope="module")
def started_browser() -> Iterator[tuple[Playwright, Browser]]:
    """One browser for the tests of a file."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: neither the npm package can be installed nor is one on the PATH")
    # Playwright's synchronous API runs an event loop in this thread, in which Django would refuse queries.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
            yield playwright, browser
            browser.close()
    finally:
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def chromium(started_browser: tuple[Playwright, Browser]) -> Iterator[Chromium]:
    """The browser for one test; afterwards all contexts are closed, and complaints fail the test."""
    playwright, browser = started_browser
    chromium = Chromium(playwright, browser, Complaints())
    yield chromium
    for context in browser.contexts:
        context.close()
    complaints = chromium.complaints.unexpected()
    assert not complaints, "\n".join(complaints)


Open = Callable[..., Page]
