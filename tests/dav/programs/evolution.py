"""evolution-data-server, the part of GNOME that syncs: Evolution, Contacts and Calendar show what it has."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PYTHON = "/usr/bin/python3"
_SCRIPT = Path(__file__).with_name("evolution_script.py")
_IS_INSTALLED = "import gi; gi.require_version('EBook', '1.2'); gi.require_version('ECal', '2.0')"


class EvolutionError(Exception):
    """What the program would show to the person."""


def is_installed() -> bool:
    if not shutil.which("dbus-run-session") or not Path(PYTHON).exists():
        return False
    return subprocess.run([PYTHON, "-c", _IS_INSTALLED], capture_output=True, check=False).returncode == 0


@dataclass
class Evolution:
    """A running program; each call is one of the methods of `evolution_script.Evolution`."""

    process: "subprocess.Popen[str]"
    server: str

    def call(self, method: str, *arguments: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([method, *arguments]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "evolution-data-server ended"
        answer = json.loads(line)
        if "error" in answer:
            raise EvolutionError(answer["error"])
        return answer["value"]


@contextmanager
def session_environment(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a desk's session with folders of its own, as programs on D-Bus need it."""
    names = {"XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "run"}
    for name in names.values():
        (folder / name).mkdir(mode=0o700, parents=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    yield {
        **kept,
        "HOME": str(folder),
        **{name: str(folder / value) for name, value in names.items()},
        "GSETTINGS_BACKEND": "memory",
        "GIO_USE_PROXY_RESOLVER": "dummy",
    }


def end_group(leader: int) -> None:
    """End what the bus of a session has started and left, such as the keyring: all have the group of their leader."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGTERM)


@contextmanager
def running_evolution(folder: Path, port: int, user: str, password: str) -> Iterator[Evolution]:
    with session_environment(folder) as environment, (folder / "log").open("w") as log:
        process = subprocess.Popen(
            ["dbus-run-session", "--", PYTHON, str(_SCRIPT), str(port), user, password],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            yield Evolution(process, f"http://127.0.0.1:{port}")
        finally:
            assert process.stdin
            assert process.stdout
            process.stdin.close()
            process.wait(20)
            process.stdout.close()
            end_group(process.pid)
