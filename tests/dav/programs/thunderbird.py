"""Thunderbird without a window, driven through Marionette: what its address book and its calendars do with a server."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.dav.programs.evolution import session_environment
from tests.loopback import closed_port

_STEPS = Path(__file__).with_name("thunderbird_script.js").read_text()
_SCRIPT = """
const [step, ...given] = [...arguments].slice(0, -1), done = arguments[arguments.length - 1];
(async () => steps[step](...given))().then(
  (value) => done({ value: value ?? null }), (error) => done({ error: `${error} ${error?.stack ?? ""}` }));
"""
# No first page, no update, no telemetry, nothing that is asked of other machines.
_PREFERENCES: dict[str, bool | int | str] = {
    "mail.provider.enabled": False,
    "mail.spotlight.firstRunDone": True,
    "mailnews.start_page.enabled": False,
    "mail.rights.version": 1,
    "mail.shell.checkDefaultClient": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 0,
    "browser.safebrowsing.malware.enabled": False,
    "services.settings.server": "http://127.0.0.1:1/",
    "calendar.timezone.local": "Europe/Berlin",
}


class ThunderbirdError(Exception):
    """A step that threw in Thunderbird."""


def is_installed() -> bool:
    return shutil.which("thunderbird") is not None


@dataclass
class Thunderbird:
    """A connection to a running program. Messages of Marionette are JSON with their length before them."""

    connection: socket.socket
    received: bytes = b""
    sent: int = field(default=0)

    def start_session(self) -> None:
        self._receive()  # its greeting
        self._command("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {}}})
        self._command("Marionette:SetContext", {"value": "chrome"})
        self._command("WebDriver:SetTimeouts", {"script": 60_000})

    def call(self, step: str, *arguments: Any) -> Any:
        """Run one of the steps of thunderbird_script.js; returns its value."""
        script = {"script": _STEPS + _SCRIPT, "args": [step, *arguments], "newSandbox": True}
        answer = self._command("WebDriver:ExecuteAsyncScript", script)["value"]
        if "error" in answer:
            raise ThunderbirdError(answer["error"])
        return answer["value"]

    def _command(self, name: str, parameters: dict[str, Any]) -> Any:
        self.sent += 1
        message = json.dumps([0, self.sent, name, parameters]).encode()
        self.connection.sendall(b"%d:%b" % (len(message), message))
        _, _, error, value = self._receive()
        assert not error, error
        return value

    def _receive(self) -> Any:
        while b":" not in self.received:
            self.received += self._read()
        length, _, self.received = self.received.partition(b":")
        while len(self.received) < int(length):
            self.received += self._read()
        message, self.received = self.received[: int(length)], self.received[int(length) :]
        return json.loads(message)

    def _read(self) -> bytes:
        data = self.connection.recv(65536)
        assert data, "Thunderbird ended"
        return data


@contextmanager
def running_thunderbird(folder: Path) -> Iterator[Thunderbird]:
    """Run it with a new profile."""
    port, profile = closed_port(), folder / "profile"
    profile.mkdir()
    preferences = {**_PREFERENCES, "marionette.port": port}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
    (profile / "user.js").write_text("".join(lines))
    options = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(profile)]
    with session_environment(folder) as environment, (folder / "log").open("w") as log:
        process = subprocess.Popen(
            ["thunderbird", *options], env={**environment, "MOZ_HEADLESS": "1"}, stdout=log, stderr=log
        )
        try:
            with _connect(port, process, folder / "log") as connection:
                thunderbird = Thunderbird(connection)
                thunderbird.start_session()
                yield thunderbird
        finally:
            process.terminate()
            process.wait(20)


def _connect(port: int, process: "subprocess.Popen[bytes]", log: Path) -> socket.socket:
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=90)
        except ConnectionRefusedError:
            assert process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])
