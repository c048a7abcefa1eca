"""Replays what real programs were seen to send: tests/dav/sequences, byte for byte but for what names the other server.

Mapped are paths, credentials, ETags in If-Match and sync-tokens: the program sends those that it has got from us.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.dav.devices import Answer, Device, read_multistatus

FOLDER = Path(__file__).parent / "sequences"
_TOKEN = re.compile(rb"(<(?:\w+:)?sync-token[^>/]*>)[^<]+(</)")
_FRAMING = {"content-length", "host", "connection", "authorization", "transfer-encoding"}


@dataclass(frozen=True)
class Request:
    """One request of a file, with the step of the person that it belongs to and the status of the other server."""

    step: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    status: int


@dataclass
class Exchange:
    """A request as it was replayed, and our answer to it."""

    request: Request
    path: str
    response: Any
    content: bytes

    @property
    def status(self) -> int:
        return int(self.response.status_code)

    @property
    def answer(self) -> Answer:
        return read_multistatus(self.content)


def read_sequence(name: str, section: str) -> list[Request]:
    """The requests of the section of a file whose title begins with this text; of the whole file if it is empty."""
    return [request for title, request in _read_file(FOLDER / f"{name}.txt") if title.startswith(section)]


def _read_file(path: Path) -> Iterator[tuple[str, Request]]:
    data, position, title, step = path.read_bytes(), 0, "", ""
    while position < len(data):
        end = data.find(b"\n", position)
        line = data[position : end if end >= 0 else len(data)]
        position = (end if end >= 0 else len(data)) + 1
        if line.startswith(b"# ====="):
            title, step = line.removeprefix(b"# =====").strip().decode(), ""
        elif line.startswith(b"# ---"):
            step = line.partition(b"step:")[2].strip().decode()
        elif line.startswith(b">>> "):
            method, target, _ = line[4:].decode().split(" ", 2)
            head, _, _ = data[position:].partition(b"\n\n")
            pairs = [text.partition(": ") for text in head.decode().split("\n") if text]
            headers = {name.rstrip(":"): value for name, _, value in pairs}
            position += len(head) + 2
            length = int(headers.get("Content-Length", "0"))
            body = data[position : position + length]
            answer = data.index(b"<<< ", position + length)
            yield title, Request(step, method, target, headers, body, int(data[answer + 4 : answer + 7]))
            position = answer


@dataclass
class Replay:
    """A program with a device's credentials. `paths`: what the other server's paths are here, the longest first."""

    device: Device
    paths: Mapping[str, str]
    keeps_tokens: frozenset[str] = frozenset()
    takes_listed_token: bool = True
    """Whether the sync-token that a PROPFIND lists is its own from then on; else only that of a report."""
    etags: dict[str, str] = field(default_factory=dict)
    token: str = ""
    words: Mapping[bytes, bytes] = field(default_factory=dict)
    """What else stands in the bodies for something that only we know."""

    def run(self, requests: list[Request], *steps: str) -> list[Exchange]:
        """Send the requests of these steps, or all; returns the exchanges."""
        return [self.send(request) for request in requests if not steps or request.step in steps]

    def send(self, request: Request) -> Exchange:
        path = self._mapped(request.path)
        body = request.body
        for word, ours in self.words.items():
            body = body.replace(word, ours)
        if request.method != "PUT":
            for old, new in self.paths.items():
                body = body.replace(old.encode(), new.encode())
            if self.token and request.step not in self.keeps_tokens:
                body = _TOKEN.sub(rb"\g<1>" + self.token.encode() + rb"\g<2>", body)
        headers = {
            f"HTTP_{_env(name)}": value for name, value in request.headers.items() if name.lower() not in _FRAMING
        }
        headers.pop("HTTP_CONTENT_TYPE", None)
        if "HTTP_IF_MATCH" in headers:
            headers["HTTP_IF_MATCH"] = self.etags[path]
        if "Authorization" not in request.headers:
            headers["HTTP_AUTHORIZATION"] = ""
        content_type = request.headers.get("Content-Type", "")
        response = self.device.call(request.method, path, body, content_type=content_type, **headers)
        content = b"".join(response) if response.streaming else response.content
        exchange = Exchange(request, path, response, content)
        self._learn(exchange)
        return exchange

    def _mapped(self, path: str) -> str:
        for old, new in self.paths.items():
            if path.startswith(old):
                return new + path.removeprefix(old)
        return path

    def _learn(self, exchange: Exchange) -> None:
        if etag := exchange.response.get("ETag"):
            self.etags[exchange.path] = etag
        if exchange.status != 207:
            return
        answer = exchange.answer
        for href, entry in answer.entries.items():
            if "d:getetag" in entry.found:
                self.etags[href] = entry.text("d:getetag")
            if self.takes_listed_token and "d:sync-token" in entry.found:
                self.token = entry.text("d:sync-token")
        self.token = answer.token or self.token


def _env(name: str) -> str:
    return name.upper().replace("-", "_")
