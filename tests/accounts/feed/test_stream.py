"""GET /api/changes/stream: one event on connecting, then one for all writes since the event before."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from accounts.feed import stream
from accounts.feed.stream import revisions_of
from accounts.models import ApiToken, User
from contacts_project.kernel.api import asgi_responses
from contacts_project.kernel.api.asgi_responses import EventStream, in_thread
from contacts_project.kernel.ownership.account_lock import account_write
from tests.builders import make_user
from tests.client import Client, client_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(stream, "_CHECK_SECONDS", 0.05)
    # The threads of streams end with the loop: what they leave open the database would wait for.
    monkeypatch.setattr(asgi_responses, "close_old_connections", connections.close_all)


def write(owner: User) -> int:
    with account_write(owner.pk) as under_way:
        return under_way.revision


def revision_in(piece: bytes) -> int:
    """The revision in the data of an event, which is also its id."""
    name, number, data = piece.decode().strip().split("\n")
    revision = int(json.loads(data.removeprefix("data: "))["revision"])
    assert (name, number) == ("event: changed", f"id: {revision}")
    return revision


def run_coroutine(steps: Callable[[], Any]) -> Any:
    """Run a coroutine; the connections of its threads are closed by themselves."""
    try:
        return asyncio.run(steps())
    finally:
        connections.close_all()


def test_events_come_on_connecting_and_after_writes(alice: User) -> None:
    async def steps() -> None:
        events = revisions_of(alice, may_read=lambda: True)
        assert revision_in(await anext(events)) == alice.revision
        newest = alice.revision
        for _ in range(3):
            newest = await in_thread(write, alice)
        told = revision_in(await anext(events))
        while told < newest:  # a burst may be told in parts, its last always
            told = revision_in(await anext(events))
        assert told == newest
        await events.aclose()

    run_coroutine(steps)


def test_stream_reports_only_writes_of_its_own_account(alice: User) -> None:
    other = make_user("bob@example.org")

    async def steps() -> None:
        await in_thread(alice.refresh_from_db)
        await in_thread(other.refresh_from_db)
        mine, theirs = (revisions_of(user, may_read=lambda: True) for user in (alice, other))
        for events in (mine, theirs):
            await anext(events)
        newest = await in_thread(write, other)
        assert revision_in(await anext(theirs)) == newest
        waiting = asyncio.ensure_future(anext(mine))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        assert (await in_thread(write, alice)) == revision_in(await waiting)
        for events in (mine, theirs):
            await events.aclose()

    run_coroutine(steps)


def test_all_streams_of_a_process_share_one_query(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = stream._load_revisions

    def record_and_load(owner_ids: Collection[UUID]) -> dict[UUID, int]:
        asked.append(len(owner_ids))
        return real(owner_ids)

    monkeypatch.setattr(stream, "_load_revisions", record_and_load)
    users = [alice, make_user("bob@example.org")]

    async def steps() -> None:
        streams = [revisions_of(user, may_read=lambda: True) for user in users for _ in range(20)]
        for events in streams:
            await anext(events)
        await in_thread(write, alice)
        for events in streams[:20]:
            await anext(events)
        for events in streams:
            await events.aclose()
        await asyncio.sleep(0.1)  # nobody is left to ask for

    run_coroutine(steps)
    assert set(asked) == {2}


def events_of(client: Client) -> AsyncGenerator[bytes, None]:
    response = client.call("GET", "/api/changes/stream")
    assert isinstance(response, EventStream)
    return response.events


def test_a_stream_ends_with_its_token(alice: User) -> None:
    events = events_of(client_of(alice))

    async def steps() -> None:
        await anext(events)
        await in_thread(ApiToken.unscoped.all().delete)
        with pytest.raises(StopAsyncIteration):
            await anext(events)

    run_coroutine(steps)


def test_a_stream_ends_with_its_session(alice: User) -> None:
    client = client_of(None)
    client.force_login(alice)
    events = events_of(client)

    async def steps() -> None:
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await in_thread(client.logout)
        with pytest.raises(StopAsyncIteration):
            await waiting

    run_coroutine(steps)


def test_a_stream_ends_with_its_account(alice: User) -> None:
    async def steps() -> None:
        await in_thread(alice.refresh_from_db)  # otherwise a poll before the deletion reports the current revision
        events = revisions_of(alice, may_read=lambda: True)
        await anext(events)
        await in_thread(User.objects.filter(pk=alice.pk).delete)
        with pytest.raises(StopAsyncIteration):
            await anext(events)

    run_coroutine(steps)
