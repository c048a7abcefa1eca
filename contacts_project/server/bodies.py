"""Receives request bodies completely before a thread is used, with limits on size, time and memory."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contacts_project.server.refusals import RefusedError
from contacts_project.server.spool import Spool

Message = Mapping[str, Any]
"""A message of ASGI."""
Receive = Callable[[], Awaitable[Message]]

IDLE_TIMEOUT_SECONDS = 30
# Every body may take this long; a longer one must arrive at MIN_BYTES_PER_SECOND from then on.
GRACE_SECONDS = 60
MIN_BYTES_PER_SECOND = 1024
MAX_DISCARDED_BYTES = 64 * 1024 * 1024


class ClientDisconnectedError(Exception):
    """The client closed the connection before its body was complete."""


@dataclass
class Body:
    """A request body. `spool` has the part that was kept, `length` counts all bytes.

    `is_complete` is false if the server stopped reading before the end.
    """

    spool: Spool
    length: int = 0
    is_complete: bool = True


async def receive_body(
    receive: Receive, body: Body, *, content_length: int | None, limit: int, expects_continue: bool
) -> None:
    """Receive a body and keep at most `limit` bytes of it. `content_length` is None if it is chunked (RFC 9112 7.1).

    Bytes beyond the limit are read and discarded: most clients send the whole body before they read the response, so
    that they would not see the refusal otherwise. A body is not read if its client waits for 100 Continue
    (RFC 9110 10.1.1), nor beyond MAX_DISCARDED_BYTES. Raises ClientDisconnectedError, RefusedError.
    """
    length = content_length or 0
    if length > limit and (expects_continue or length > MAX_DISCARDED_BYTES):
        body.length, body.is_complete = length, False
        return
    started = time.monotonic()
    more = True
    while more:
        try:
            async with asyncio.timeout(IDLE_TIMEOUT_SECONDS):
                message = await receive()
        except TimeoutError:
            raise RefusedError(408) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        data: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        if data and body.length < limit:
            body.spool.write(data[: limit - body.length])
        body.length += len(data)
        if body.length > MAX_DISCARDED_BYTES and more:
            body.is_complete = False
            return
        # The idle timeout alone would let a client send one byte now and then for hours.
        if more and time.monotonic() - started > GRACE_SECONDS + body.length / MIN_BYTES_PER_SECOND:
            raise RefusedError(408)
