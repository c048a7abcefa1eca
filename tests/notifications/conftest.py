"""Fixtures for notifications: servers on loopback that receive them, and a channel that records them."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.loopback import Received, Recorder, Reply, allow_loopback, recording_server
from tests.notifications.recording_channel import RecordingChannel


@pytest.fixture(autouse=True)
def _allow_loopback(settings: Any) -> None:
    """The receivers of these tests are on loopback."""
    allow_loopback(settings)


@pytest.fixture(autouse=True)
def _block_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve no host name: the system's resolver would use the network. Tests may patch in answers of their own."""
    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", lambda host, port: [])


@pytest.fixture
def receiver() -> Iterator[Recorder]:
    """An HTTP server that answers every request with 200."""
    with recording_server() as server:
        yield server


def answer_as_ntfy(request: Received) -> Reply:
    """Answer as an ntfy server below /push does to a publisher, by its documented protocol."""
    json = {"Content-Type": "application/json"}
    if (request.method, request.path) == ("GET", "/push/v1/health"):
        return Reply(200, json, b'{"healthy":true}')
    if (request.method, request.path) == ("POST", "/push/"):
        message = orjson.loads(request.body)
        return Reply(200, json, orjson.dumps({"id": "x", "event": "message", "topic": message["topic"]}))
    return Reply(404, json, b'{"code":40401,"http":404,"error":"page not found"}')


@pytest.fixture
def ntfy() -> Iterator[Recorder]:
    """A stand-in for an ntfy server."""
    with recording_server() as server:
        server.reply = answer_as_ntfy
        yield server


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> RecordingChannel:
    """Replace all channels by one that records, for tests of what is sent when."""
    recording = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (recording,))
    return recording
