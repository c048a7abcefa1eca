"""Real CardDAV servers on loopback: Radicale and Xandikos, which the tests start, and servers that are running already.

    TEST_CARDDAV_SERVERS="sabre=http://127.0.0.1:8081/addressbooks/{user}/ sogo=http://127.0.0.1:8085/SOGo/dav/{user}/Contacts/"

names running servers, each with the collection in which the user `user` (password `secret`) may create address books.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from dulwich.repo import Repo

from tests.loopback import closed_port

PASSWORD = "secret"
_MAKE_BOOK = (
    '<?xml version="1.0" encoding="utf-8"?><mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><set><prop>'
    "<resourcetype><collection/><C:addressbook/></resourcetype><displayname>{name}</displayname></prop></set></mkcol>"
)
# `python -m` without fsync, which is slow: the data are deleted after the tests.
_RUN_MODULE = (
    "import os, runpy, sys; os.fsync = lambda file: None; runpy.run_module(sys.argv.pop(1), run_name='__main__')"
)


@dataclass(frozen=True)
class DavServer:
    """A running server.

    `homes` is the path below which address books are created, with the placeholder `{user}`; `files` is the folder on
    disk that it serves, if that is known.
    """

    name: str
    port: int
    homes: str
    files: Path | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def make_book(self, user: str, name: str = "People") -> str:
        """Create an empty address book of the user; returns its path."""
        path = f"{self.homes.format(user=user)}{uuid4().hex}/"
        # Creating a book takes Xandikos several git commits, so all but the first of a name are copies of its folder.
        files = self.files if self.name == "xandikos" else None
        if files and (files.parent / f"empty-{name}").exists():
            shutil.copytree(files.parent / f"empty-{name}", files / path.strip("/"))
            return path
        status, body = self.call("MKCOL", path, user, _MAKE_BOOK.format(name=name))
        assert status == 201, (status, body)
        if files:
            shutil.copytree(files / path.strip("/"), files.parent / f"empty-{name}")
        return path

    def put(self, user: str, path: str, text: str) -> None:
        """Store a card, as another client would."""
        status, body = self.call("PUT", path, user, text, "text/vcard; charset=utf-8")
        assert status in {200, 201, 204}, (status, body)

    def fill(self, user: str, book: str, cards: Mapping[str, str]) -> None:
        """Store many cards by name, on disk if possible: with requests, Xandikos makes a commit for each card."""
        if self.files is None:
            for name, text in cards.items():
                self.put(user, book + name, text)
            return
        folder = self.files / book.strip("/")
        for name, text in cards.items():
            (folder / name).write_bytes(text.encode())
        if self.name == "xandikos":
            with Repo(str(folder)) as repository:
                tree = repository.get_worktree()
                tree.stage(list(cards))
                tree.commit(message=b"Cards", sign=False)

    def get(self, user: str, path: str) -> bytes:
        status, body = self.call("GET", path, user)
        assert status == 200, (status, body)
        return body

    def delete(self, user: str, path: str) -> None:
        status, body = self.call("DELETE", path, user)
        assert status in {200, 204}, (status, body)

    def call(
        self,
        method: str,
        path: str,
        user: str,
        body: str = "",
        content_type: str = "application/xml; charset=utf-8",
        seconds: float = 30,
    ) -> tuple[int, bytes]:
        """Send a request with the user's login, without the proxy. `seconds` is the timeout."""
        pair = b64encode(f"{user}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {pair}", "Content-Type": content_type}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, body.encode(), headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def running_servers() -> dict[str, DavServer]:
    """The servers of TEST_CARDDAV_SERVERS, by name."""
    pairs = [part.split("=", 1) for part in os.environ.get("TEST_CARDDAV_SERVERS", "").split()]
    return {name: DavServer(name, urlsplit(url).port or 80, urlsplit(url).path) for name, url in pairs}


@contextmanager
def radicale(folder: Path) -> Iterator[DavServer]:
    """Run Radicale, which accepts any user with any password; each has a home of its own."""
    port = closed_port()
    options = {
        "server-hosts": f"127.0.0.1:{port}",
        "server-max-connections": "100",
        "auth-type": "none",
        "auth-delay": "0",
        "storage-filesystem-folder": str(folder),
        "logging-level": "error",
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    with _running(["radicale", "--config", "", *arguments], port, folder):
        yield DavServer("radicale", port, "/{user}/", folder / "collection-root")


@contextmanager
def xandikos(folder: Path) -> Iterator[DavServer]:
    """Run Xandikos with one user, `user`; it does not check passwords."""
    port = closed_port()
    command = ["xandikos", "serve", "-d", str(folder / "data"), "--defaults"]
    options = ["-l", "127.0.0.1", "-p", str(port), "--state-dir", str(folder / "state"), "--no-detect-systemd"]
    with _running([*command, *options], port, folder):
        yield DavServer("xandikos", port, "/user/contacts/", folder / "data")


@contextmanager
def _running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN_MODULE, *command],
        cwd=folder,
        stdout=log,
        stderr=log,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        _wait_for(port, process, folder)
        yield
    finally:
        process.terminate()
        process.wait(10)
        log.close()


def _wait_for(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, (folder / "server.log").read_text()
        time.sleep(0.1)
    raise AssertionError("the server did not start")
