"""Requests to an ntfy server, by its documented protocol (publish as JSON)."""

from typing import Any

import orjson
import pytest

from accounts.models import User
from notifications.channels import channels
from notifications.channels.ntfy import cut_bytes
from notifications.notices.notice import NoticeKind
from tests.client import Client
from tests.loopback import Recorder, Reply
from tests.notifications.notices import make_notice
from tests.notifications.test_destinations import create

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture
def topic(api: Client, ntfy: Recorder) -> str:
    """The id of alice's topic, which has a token."""
    id_: str = create(api, type="NTFY", url=f"{ntfy.url}/push/birth-days", token="tk_alice")["endpoint"]["id"]
    ntfy.received.clear()
    return id_


def test_message_is_posted_as_json_to_the_servers_root(alice: User, topic: str, ntfy: Recorder) -> None:
    notice = make_notice(alice)
    assert channels()["ntfy"].send(topic, notice).is_ok
    (request,) = ntfy.received
    assert (request.method, request.path) == ("POST", "/push/")
    assert request.headers["authorization"] == "Bearer tk_alice"
    message = orjson.loads(request.body)
    buttons = message.pop("actions")
    assert [button["label"] for button in buttons] == ["Contacted today", "Again tomorrow", "Not this time"]
    assert {(button["action"], button["method"]) for button in buttons} == {("http", "POST")}
    assert message == {
        "topic": "birth-days",
        "title": "Birthday: Ada Lovelace",
        "message": "It is today, Thursday, 10 December (2026-12-10).\nAda Lovelace turns 211.",
        "click": "http://127.0.0.1:8000/app/people/01900000-0000-7000-8000-000000000001",
        "tags": ["birthday"],
        "sequence_id": str(notice.id),
    }


def test_second_try_has_the_same_sequence_id(alice: User, topic: str, ntfy: Recorder) -> None:
    notice = make_notice(alice)
    for _ in range(2):
        assert channels()["ntfy"].send(topic, notice).is_ok
    first, second = (orjson.loads(request.body)["sequence_id"] for request in ntfy.received)
    assert first == second


def test_no_authorization_header_without_a_token(api: Client, alice: User, ntfy: Recorder) -> None:
    id_ = create(api, type="NTFY", url=f"{ntfy.url}/push/open")["endpoint"]["id"]
    assert channels()["ntfy"].send(id_, make_notice(alice, NoticeKind.CONTACT)).is_ok
    assert "authorization" not in ntfy.received[-1].headers


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, {"Content-Type": "text/html"}, b"<html>"),
        Reply(200, {}, b"{}"),
        Reply(204),
        Reply(200, {"Content-Type": "application/json"}, b"x" * 70_000),
    ],
    ids=["html", "no type", "empty", "too long"],
)
def test_success_without_ntfy_response_is_unexpected(alice: User, topic: str, ntfy: Recorder, reply: Reply) -> None:
    ntfy.reply = reply
    assert channels()["ntfy"].send(topic, make_notice(alice)).code == "unexpected_response"


def test_long_message_is_shortened_below_the_attachment_limit(alice: User, topic: str, ntfy: Recorder) -> None:
    long: Any = {"type": None, "title": "x", "personName": "ü" * 5000, "turns": None}
    assert channels()["ntfy"].send(topic, make_notice(alice, NoticeKind.IMPORTANT_DATE, **long)).is_ok
    assert cut_bytes("ü" * 5000, 4000).encode().decode().endswith("ü…")
    assert len(cut_bytes("ü" * 5000, 4000).encode()) <= 4000
    assert cut_bytes("short", 4000) == "short"
