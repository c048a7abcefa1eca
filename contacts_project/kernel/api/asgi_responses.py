"""Responses that the web server's event loop produces, after a view has admitted the caller.

The view runs in a thread like any other view, so authentication, permissions, validation and rate limits apply. What is
sent after that holds no thread.

    def create(self, request: Request) -> AsgiResponse:
        return AsgiResponse(serve)

    async def serve(scope: Scope, receive: Receive, send: Send, ask: Ask) -> None: ...

`serve` is an ASGI application that gets the same request. To use the service itself it calls `ask`, which runs one more
request with the credentials of the same caller.

    def get(self, request: Request) -> EventStream:
        return EventStream(progress(run.pk))

    async def progress(run_id: UUID) -> AsyncGenerator[bytes, None]:
        while not (state := await in_thread(read_state, run_id)).is_over:
            yield event("progress", state.to_json())
            await asyncio.sleep(0.5)

These are Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). The generator occupies a
thread only while it runs something `in_thread`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar

from django.db import close_old_connections
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.translation import get_language, override

from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.json import dumps
from contacts_project.kernel.texts import define_text

log = logging.getLogger(__name__)
Params = ParamSpec("Params")
Result = TypeVar("Result")
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

_UNAVAILABLE = define_text(
    "stream_unavailable",
    "A part of the service is away for the moment, so nothing more can be told here. What was begun goes on once it is "
    "back: open the stream again in a few seconds.",
)


class InternalRequest(NamedTuple):
    """A request that the service sends to itself. `path` is percent-encoded, `body` is JSON or empty."""

    method: str
    path: str
    query: str
    body: bytes


class InternalResponse(NamedTuple):
    """The response to an InternalRequest."""

    status: int
    body: bytes


Ask = Callable[[InternalRequest], Awaitable[InternalResponse]]


class AsgiResponse(HttpResponse):
    """A response whose status and body `serve` sends. Under a web server other than this project's it is empty."""

    def __init__(self, serve: Callable[[Scope, Receive, Send, Ask], Awaitable[None]]) -> None:
        super().__init__()
        self.serve = serve


class EventStream(StreamingHttpResponse):
    """A response that sends events until `events` ends, the client disconnects or the server stops.

    If the database or another service becomes unavailable, the last event is an `error` with the code `unavailable`.
    Between events the server sends a comment every `comment_seconds`, so that proxies keep the connection open and a
    disconnected client is noticed. Under a web server other than this project's the response is empty.
    """

    comment_seconds = 14.0  # the API promises 15 seconds, and a busy machine adds some

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__((), content_type="text/event-stream")
        self.events = events
        self.language = get_language()
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # nginx would buffer the events

    async def pieces(self, *until: "asyncio.Future[Any]") -> AsyncGenerator[bytes, None]:
        """The events with comments in between, for the web server. Ends with them, or when one of `until` is done."""
        pending: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                # The same future is awaited again after a comment: cancelling anext() would end the generator.
                pending = pending or asyncio.ensure_future(anext(self.events, None))
                waited = {pending, *until}
                await asyncio.wait(waited, timeout=self.comment_seconds, return_when=asyncio.FIRST_COMPLETED)
                if any(future.done() for future in until):
                    return
                if not pending.done():
                    yield b":\n\n"  # a comment, which clients ignore
                    continue
                piece, pending = _event_result(pending, self.language), None
                if piece is None:
                    return
                yield piece
        finally:
            if pending is not None:
                # aclose() raises RuntimeError while the generator is still running.
                pending.cancel()
                await asyncio.wait({pending})
            await self.events.aclose()


def _event_result(finished: "asyncio.Future[bytes | None]", language: str | None) -> bytes | None:
    """The next event, or None at the end. If a service is unavailable, an `error` event.

    That event is the last one, because a generator that has raised is finished.
    """
    try:
        return finished.result()
    except Exception as error:
        if not is_unavailable(error):
            raise
        log.warning("A stream of events ends early", extra={"reason": str(error)})
        with override(language):
            return event("error", {"error": _UNAVAILABLE, "code": "unavailable"})


def event(name: str, data: object, event_id: object = None) -> bytes:
    """Format one event, with `data` as JSON."""
    lines = [f"event: {name}", *([] if event_id is None else [f"id: {event_id}"])]
    return "\n".join(lines).encode() + b"\ndata: " + dumps(data) + b"\n\n"


async def in_thread(function: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs) -> Result:
    """Run a blocking function, such as a query, in a thread of the pool that all streams share."""

    def call() -> Result:
        # As around a request: a thread of the pool may have kept a connection that the database has closed since.
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.to_thread(call)
