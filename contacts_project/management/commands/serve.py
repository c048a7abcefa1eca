"""`manage.py serve`: the whole service from one command: web, worker and scheduler. `make run` calls it."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from contacts_project.data_folder import make_private

_GRACE_SECONDS = 15


class Command(BaseCommand):
    help = "Prepares the database, then runs the web process and a worker with the scheduler until it is stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        check_port_free(settings.HOST, settings.PORT)
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        if (default := settings.BASE_DIR / "data") != settings.DATA_DIR:
            self.stdout.write(f"Give manage.py the same DATA_DIR, too: without it, it works on {default}.")
        self.stdout.write("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        make_private(settings.DATA_DIR.rglob("*"))  # of an older version; what is new is made so
        children = {"web": web_command(), "worker": worker_command(), "scheduler": scheduler_command()}
        self.stdout.write("Starting web, worker and scheduler ...")
        supervisor = Supervisor(children, self.stdout)
        supervisor.wait_for_web()
        self.stdout.write(
            f"Ready at {settings.BASE_URL} (interactive API docs: {settings.BASE_URL}/api/docs). Stop with Ctrl-C."
        )
        self.stdout.flush()
        supervisor.watch()


def check_port_free(host: str, port: int) -> None:
    """Raise CommandError, naming the way out, when something listens already."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {error.strerror}. Choose another: PORT=8001 make run"
            ) from None


def web_command() -> list[str]:
    """One process with threads (technical note: gthread answered most); more only where Redis is the shared cache."""
    bind = f"[{settings.HOST}]:{settings.PORT}" if ":" in settings.HOST else f"{settings.HOST}:{settings.PORT}"
    options = [
        "--bind",
        bind,
        "--workers",
        str(settings.WEB_WORKERS),
        "--worker-class",
        "gthread",
        "--threads",
        "8",
        "--timeout",
        "120",
    ]
    # gunicorn's most: a list filtered by a hundred groups is an address of 4 kB.
    options += ["--limit-request-line", "8190", "--log-level", "warning"]
    return [sys.executable, "-m", "gunicorn", *options, "contacts_project.wsgi"]


def celery_command(name: str, *options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "celery",
        "--quiet",
        "-A",
        "contacts_project",
        name,
        "--loglevel",
        "WARNING",
        *options,
    ]


def worker_command() -> list[str]:
    """One process with threads."""
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return celery_command("worker", "--pool", "threads", "--concurrency", "4", *quiet)


def scheduler_command() -> list[str]:
    """A process of its own: one embedded in the worker (`--beat`) outlives it on kill -9, and may swallow SIGTERM."""
    return celery_command("beat", "--pidfile=")


class Supervisor:
    """Keeps the children alive: one that dies is started again, but for the web process, which ends everything."""

    def __init__(self, commands: dict[str, list[str]], out: Any) -> None:
        self.commands = commands
        self.out = out
        self.stopping = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        self.children = {name: start(command) for name, command in commands.items()}

    def wait_for_web(self) -> None:
        """Return once the web process takes connections (or has ended, which `watch` reports)."""
        while not self.stopping and self.children["web"].poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((settings.HOST, settings.PORT), timeout=1):
                return
            time.sleep(0.1)

    def watch(self) -> None:
        """Return when stopped; raise CommandError when the web process ended by itself."""
        while not self.stopping:
            time.sleep(0.3)
            if self.children["web"].poll() is not None and not self.stopping:
                self._end()
                raise CommandError("The web process ended by itself; its last lines are above.")
            for name, child in self.children.items():
                if child.poll() is not None and not self.stopping:
                    self.out.write(f"The {name} ended; starting it again.")
                    time.sleep(1)
                    self.children[name] = start(self.commands[name])
        self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def _end(self) -> None:
        for child in self.children.values():
            child.terminate()
        deadline = time.monotonic() + _GRACE_SECONDS
        for child in self.children.values():
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                # With all that it started. What it held is a row with a state: the next run goes on with it.
                os.killpg(child.pid, signal.SIGKILL)


def start(command: list[str]) -> "subprocess.Popen[bytes]":
    """Start a child that does not outlive this process, in a session of its own so that Ctrl-C comes from us."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "contacts_project.settings"}
    return subprocess.Popen(  # noqa: S603 - our own commands
        command,
        cwd=Path(settings.BASE_DIR),
        env=environment,
        start_new_session=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no threads here
    )


def _die_with_parent() -> None:
    """prctl(PR_SET_PDEATHSIG, SIGTERM): also when this process is killed, its children end."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
