"""SyncEvolution: its own CardDAV and CalDAV code, between a server and the databases of evolution-data-server."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.dav.programs import evolution

LOCAL = {"addressbook": "evolution-contacts", "todo": "evolution-tasks"}
REMOTE = {"addressbook": "carddav", "todo": "caldavtodo"}
_ROW = re.compile(
    r"^\|\s+(\w+) \|\s+(\d+)  \|\s+(\d+)  \|\s+(\d+)  \|\s+0  \|\s+(\d+)  \|\s+(\d+)  \|\s+(\d+)  \|\s+0  \|",
    re.MULTILINE,
)


def is_installed() -> bool:
    return shutil.which("syncevolution") is not None and evolution.is_installed()


@dataclass
class SyncEvolution:
    """Runs its command line in a session of its own; `folder` is for files that it reads."""

    environment: Mapping[str, str]
    folder: Path

    def run(self, *arguments: str) -> str:
        process = subprocess.Popen(
            ["dbus-run-session", "--", "syncevolution", "--daemon=no", "--keyring=no", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, complaints = process.communicate(timeout=120)
        finally:
            evolution.end_group(process.pid)
        assert process.returncode == 0, said + complaints
        return said

    def configure(self, server: str, user: str, password: str, databases: Mapping[str, str]) -> None:
        """Sync these sources (`addressbook`, `todo`) with these collections of a server."""
        login = [f"username={user}", f"password={password}", f"syncURL={server}", "retryDuration=2s"]
        remote = [
            f"{name}/{setting}"
            for name, url in databases.items()
            for setting in (f"backend={REMOTE[name]}", f"database={url}")
        ]
        self.run("--configure", "--template", "webdav", *login, *remote, "target-config@server", *databases)
        local = [f"{name}/backend={LOCAL[name]}" for name in databases]
        peer = ["sync=two-way", "syncURL=local://@server", "username=", "password=", "dumpData=0", "printChanges=0"]
        self.run("--configure", "--template", "SyncEvolution_Client", *peer, *local, "server", *databases)

    def sync(self, mode: str = "two-way") -> dict[str, tuple[int, ...]]:
        """Sync all sources, without errors; for each what was added, changed and removed on the server, then here."""
        report = self.run("--sync", mode, "server").rpartition("Changes applied during synchronization:")[2]
        rows = {name: tuple(map(int, counts)) for name, *counts in _ROW.findall(report)}
        # The first side of this table is the local one.
        return {name: (*counts[3:], *counts[:3]) for name, counts in rows.items()}

    def export(self, source: str) -> dict[str, str]:
        """The local items by id."""
        with TemporaryDirectory(dir=self.folder) as folder:
            self.run("--export", folder, "@default", source)
            return {file.name: file.read_text() for file in Path(folder).iterdir()}

    def add(self, source: str, text: str) -> None:
        self.run("--import", self._file(text), "--delimiter", "none", "@default", source)

    def update(self, source: str, item: str, text: str) -> None:
        self.run("--update", self._file(text), "--delimiter", "none", "@default", source, item)

    def delete(self, source: str, item: str) -> None:
        self.run("--delete-items", "@default", source, item)

    def _file(self, text: str) -> str:
        file = self.folder / "item"
        file.write_text(text)
        return str(file)
