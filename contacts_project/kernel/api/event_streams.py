"""Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as a view answers them.

    def get(self, request: Request) -> EventStream:
        return EventStream(progress(run.pk))

    async def progress(run_id: UUID) -> AsyncGenerator[bytes, None]:
        while not (state := await in_thread(read_state, run_id)).is_over:
            yield event("progress", state.answer())
            await asyncio.sleep(0.5)

The view runs in a thread like any other: authentication, permissions and validation are as everywhere. What it returns
is driven by the web server's event loop, so an open stream holds no thread; only `in_thread` takes one, for a moment.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections
from django.http import StreamingHttpResponse

from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.unavailable import is_unavailable

log = logging.getLogger(__name__)
Params = ParamSpec("Params")
Result = TypeVar("Result")

_UNAVAILABLE = (
    "A part of the service is away for the moment, so nothing more can be told here. What was begun goes on once it is "
    "back: open the stream again in a few seconds."
)


class EventStream(StreamingHttpResponse):
    """An answer that goes on. `events` is closed when the client is gone or the server stops.

    What it needs and cannot reach, the database say, ends it with an `error` event of the code `unavailable`.
    While nothing happens the server sends a comment every `comment_seconds`, so that proxies keep the connection and
    a client that is gone is noticed. Under a server other than ours the answer is empty.
    """

    comment_seconds = 14.0  # the contract says every 15: with what a busy machine adds, never later

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__((), content_type="text/event-stream")
        self.events = events
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # nginx would wait for more

    async def pieces(self, *until: "asyncio.Future[Any]") -> AsyncGenerator[bytes, None]:
        """The events with comments in between, for the server; ends with them, or once one of `until` is done."""
        coming: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                coming = coming or asyncio.ensure_future(anext(self.events, None))
                waited = {coming, *until}
                await asyncio.wait(waited, timeout=self.comment_seconds, return_when=asyncio.FIRST_COMPLETED)
                if any(future.done() for future in until):
                    return
                if not coming.done():
                    yield b":\n\n"
                    continue
                piece, coming = _told(coming), None
                if piece is None:
                    return
                yield piece
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.wait({coming})
            await self.events.aclose()


def _told(coming: "asyncio.Future[bytes | None]") -> bytes | None:
    """The event that came. A generator that has raised has no other after it, so what is told instead is the last."""
    try:
        return coming.result()
    except Exception as error:
        if not is_unavailable(error):
            raise
        log.warning("A stream of events ends early", extra={"reason": str(error)})
        return event("error", {"error": _UNAVAILABLE, "code": "unavailable"})


def event(name: str, data: Any, event_id: object = None) -> bytes:
    """One event; `data` as JSON."""
    lines = [f"event: {name}", *([] if event_id is None else [f"id: {event_id}"])]
    return "\n".join(lines).encode() + b"\ndata: " + dumps(data) + b"\n\n"


async def in_thread(function: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs) -> Result:
    """Call what would block, a query say, in one of the threads that streams share."""

    def call() -> Result:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.to_thread(call)
