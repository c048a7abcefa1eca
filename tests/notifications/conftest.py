"""Servers of the tests' own that notifications go to, inside an allowed network; a clock that stands."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.loopback import Received, Recorder, Reply, recording_server
from tests.notifications.recording_channel import RecordingChannel


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    settings.OUTBOUND_ALLOWED_PORTS = ["*"]


@pytest.fixture(autouse=True)
def _no_name_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking the system's resolver would leave this machine; a test that needs an answer gives its own."""
    monkeypatch.setattr("contacts_project.kernel.outbound.sockets.system_resolve", lambda host, port: [])


@pytest.fixture
def receiver() -> Iterator[Recorder]:
    """An HTTP server that takes everything."""
    with recording_server() as server:
        yield server


def answer_as_ntfy(request: Received) -> Reply:
    """ntfy's documented protocol, as far as a publisher sees it; the server lives below /push."""
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
    """The one channel there is, for tests of what is sent when."""
    recording = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (recording,))
    return recording
