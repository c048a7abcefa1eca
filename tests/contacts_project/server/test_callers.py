"""Who counts as one caller of the web server, and how many requests one caller and one address may send at once."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from accounts.models.tokens import new_token
from contacts_project.kernel.api.asgi_responses import EventStream, InternalRequest, InternalResponse
from contacts_project.server import application
from contacts_project.server.refusals import RefusedError
from contacts_project.server.request_head import Caller, QueueKey, address_of, caller_of, queue_key
from contacts_project.server.thread_queues import REQUESTS, REQUESTS_OF_ADDRESS, AddressLimit, ThreadQueue
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import RunningServer, read_response, serve_views

MAX_PER_CALLER, MAX_PER_ADDRESS = int(REQUESTS.per_key), int(REQUESTS_OF_ADDRESS.per_key)
TOKEN = new_token()
SESSION = "abcdefghij0123456789abcdefghij01"
ADDRESS = Caller("address", "203.0.113.7")


def scope_of(*headers: tuple[str, str], peer: str = "203.0.113.7", path: str = "/api/people") -> dict[str, Any]:
    return {
        "client": (peer, 4711),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "method": "GET",
        "path": path,
        "query_string": b"",
    }


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


@pytest.mark.parametrize(
    "headers",
    [
        [("authorization", f"Bearer {TOKEN}")],
        [("authorization", f"bEARER {TOKEN}")],
        [("authorization", f"Bearer   {TOKEN} ")],
        [("authorization", f"Bearer {TOKEN}"), ("cookie", f"sessionid={SESSION}")],
        [("authorization", basic("alice@example.org", TOKEN))],
        [("authorization", basic("somebody-else", TOKEN)), ("cookie", "x=1")],
    ],
)
def test_a_token_is_one_caller_however_the_header_is_spelled(headers: list[tuple[str, str]]) -> None:
    assert caller_of(scope_of(*headers)) == Caller("token", TOKEN.encode())


@pytest.mark.parametrize(
    "headers",
    [
        [("cookie", f"sessionid={SESSION}")],
        [("cookie", f"csrftoken=x; sessionid={SESSION}; theme=1")],
        [("cookie", "theme=2"), ("cookie", f'sessionid="{SESSION}"')],
        [("authorization", basic("user", "password of a proxy")), ("cookie", f"sessionid={SESSION}")],
    ],
)
def test_a_session_is_one_caller_whatever_other_cookies_are_sent(headers: list[tuple[str, str]]) -> None:
    assert caller_of(scope_of(*headers)) == Caller("session", SESSION)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("cookie", "number=1")],
        [("cookie", "number=2; sessionid=made-up")],
        [("authorization", "Bearer made-up")],
        [("authorization", f"Token {TOKEN}")],
        [("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")],  # joined: no valid header
        [("authorization", "Basic ???")],
        [("authorization", "Bearer"), ("cookie", f"sessionid={SESSION}")],
    ],
)
def test_without_a_credential_the_address_is_the_caller(headers: list[tuple[str, str]]) -> None:
    assert caller_of(scope_of(*headers)) == ADDRESS


def test_the_address_is_that_behind_trusted_proxies(settings: Any) -> None:
    forwarded = ("x-forwarded-for", "192.0.2.66, 2001:db8:1:2:3::4")
    assert address_of(scope_of(forwarded)) == "203.0.113.7"
    settings.TRUSTED_PROXY_COUNT = 1
    assert address_of(scope_of(forwarded)) == "2001:db8:1:2::/64"
    assert address_of(scope_of(("x-forwarded-for", "192.0.2.66"), ("x-forwarded-for", "192.0.2.7"))) == "192.0.2.7"
    assert address_of({**scope_of(), "client": None}) == ""


def test_an_escaped_letter_makes_no_other_path() -> None:
    # uvicorn has both: `raw_path` as sent, `path` decoded.
    keys = [queue_key({**scope_of(), "raw_path": raw}) for raw in (b"/api/people", b"/api/%70eople")]
    assert keys[0] == keys[1]


async def admit(queue: ThreadQueue, keys: list[QueueKey]) -> list[asyncio.Task[None]]:
    """Send the requests; those that are refused have failed afterwards."""
    tasks = [asyncio.ensure_future(queue.acquire(key)) for key in keys]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


def count_refused(tasks: list[asyncio.Task[None]]) -> int:
    failed = [task.exception() for task in tasks if task.done() and not task.cancelled()]
    return sum(isinstance(error, RefusedError) and error.status == 429 for error in failed)


async def cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_made_up_callers_of_an_address_share_ten_times_the_limit_of_one() -> None:
    async def scenario() -> None:
        queue = ThreadQueue("test", 4)
        made_up = [QueueKey(number, b"/", b"", "203.0.113.7") for number in range(MAX_PER_ADDRESS + 50)]
        tasks = await admit(queue, made_up)
        assert count_refused(tasks) == 50
        assert count_refused(await admit(queue, [QueueKey("honest", b"/", b"", "192.0.2.1")])) == 0
        await cancel(tasks)
        for key, task in zip(made_up, tasks, strict=True):
            if not task.cancelled() and task.exception() is None:
                queue.release(key)
        assert not queue.addresses.held["203.0.113.7"]
        queue.pool.end()

    asyncio.run(scenario())


def test_one_caller_does_not_use_up_the_limit_of_its_address() -> None:
    """However many of its requests wait: others at the address still get in."""

    async def scenario() -> None:
        queue = ThreadQueue("test", 4)
        greedy = await admit(queue, [QueueKey("greedy", b"/", b"", "203.0.113.7")] * (2 * MAX_PER_ADDRESS))
        assert queue.addresses.held["203.0.113.7"] == MAX_PER_CALLER
        others = [QueueKey(number, b"/", b"", "203.0.113.7") for number in range(9 * MAX_PER_CALLER + 5)]
        tasks = await admit(queue, others)
        assert (count_refused(greedy), count_refused(tasks)) == (0, 5)
        # Without a known address (a Unix socket) there is no such limit.
        unknown = await admit(queue, [QueueKey(number, b"/") for number in range(MAX_PER_ADDRESS + 1)])
        assert count_refused(unknown) == 0
        await cancel([*greedy, *tasks, *unknown])
        queue.pool.end()

    asyncio.run(scenario())


def big(request: WSGIRequest) -> HttpResponse:
    return HttpResponse(b"x" * 2 * 1024 * 1024)


def stream(request: WSGIRequest) -> EventStream:
    async def events() -> AsyncGenerator[bytes, None]:
        yield b"event: first\n\n"
        await asyncio.Event().wait()

    return EventStream(events())


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serve_views({"/big": big, "/stream": stream}) as served:
        yield served


def test_an_address_with_too_many_requests_gets_429(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.application.requests, "addresses", AddressLimit(per_caller=2, per_address=20))
    head = "GET /big HTTP/1.1\r\nHost: a\r\nCookie: sessionid=%032d\r\n\r\n"
    for number in range(20):
        server.connect((head % number).encode(), receive_buffer=4096)
    queue = server.application.requests
    wait_until(lambda: queue.addresses.held["127.0.0.1"] == 20)
    status, headers, body = read_response(server.connect((head % 21).encode()).makefile("rb"))
    assert (status, headers["retry-after"]) == (429, "10")
    answer = orjson.loads(body)
    assert (answer["code"], answer["retryAfter"]) == ("rate_limited", 10)
    for connection in server.sockets:
        connection.close()
    wait_until(lambda: not queue.addresses.held["127.0.0.1"])


def test_open_streams_of_a_caller_are_limited(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold no thread, but a connection each."""
    head = "GET /stream HTTP/1.1\r\nHost: a\r\nCookie: sessionid=%032d\r\n\r\n"
    streams = server.application.streams
    monkeypatch.setattr(streams, "limits", replace(streams.limits, per_key=5))
    for _ in range(5):
        server.connect((head % 1).encode()).recv(1)  # the response has begun
    assert read_response(server.connect((head % 1).encode()).makefile("rb"))[0] == 429
    server.connect((head % 2).encode())
    wait_until(lambda: streams._number_held == 6)
    for connection in server.sockets:
        connection.close()
    wait_until(lambda: not streams._number_held)


def test_a_refused_request_of_an_assistant_is_in_the_language_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> InternalResponse:
        app = application.Application(lambda environ, start_response: HttpResponse())
        monkeypatch.setattr(app.requests, "acquire", refuse)
        outer = scope_of(("accept-language", "de"))
        gone: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            return await app._answer_inner_request(outer, [], gone, InternalRequest("GET", "/api/people", "", b""))
        finally:
            app.close()

    async def refuse(key: QueueKey) -> None:
        raise RefusedError(503)

    answer = asyncio.run(ask())
    assert (answer.status, orjson.loads(answer.body)["error"]) == (
        503,
        "Der Dienst ist ausgelastet. Versuchen Sie es später noch einmal.",
    )
