"""Runs the example receiver of docs/notifications.md unchanged."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from accounts.models import User
from notifications.channels import channels
from tests.client import Client
from tests.loopback import closed_port
from tests.notifications.notices import make_notice
from tests.notifications.test_destinations import create

pytestmark = pytest.mark.sqlite_suffices

PAGE = Path(settings.BASE_DIR) / "docs" / "notifications.md"


def receiver() -> str:
    found = re.search(r"```python receiver\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found.group(1)


def test_example_has_ten_lines() -> None:
    assert len([line for line in receiver().splitlines() if line.strip()]) <= 10


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    """Starts the receiver with a secret; returns the process once it listens."""
    running: list[subprocess.Popen[str]] = []

    def start(secret: str, port: int) -> subprocess.Popen[str]:
        environment = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
        process = subprocess.Popen(
            [sys.executable, "-c", receiver()],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def send_until_it_listens(alice: User, id_: str) -> Any:
    for _ in range(200):
        outcome = channels()["webhook"].send(id_, make_notice(alice))
        if outcome.code != "refused":
            return outcome
        time.sleep(0.05)
    pytest.fail("the receiver does not listen")


def test_example_accepts_requests_of_the_service(api: Client, alice: User, run: Any) -> None:
    port = closed_port()
    created = create(api, url=f"http://127.0.0.1:{port}/")
    process = run(created["secret"], port)
    assert send_until_it_listens(alice, created["endpoint"]["id"]).is_ok
    assert process.stdout.readline().startswith("reminder.important_date {")


def test_example_refuses_other_requests(api: Client, alice: User, run: Any) -> None:
    port = closed_port()
    created = create(api, url=f"http://127.0.0.1:{port}/")
    run("whsec_" + "A" * 43 + "=", port)
    assert not send_until_it_listens(alice, created["endpoint"]["id"]).is_ok
