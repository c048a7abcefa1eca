"""Requests' bodies, received whole before a thread is taken: bounded in size, time and memory."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contacts_project.server.refusals import RefusedError
from contacts_project.server.spool import Spool

Receive = Callable[[], Awaitable[Mapping[str, Any]]]

SILENCE_SECONDS = 30
# A body may take a minute, and beyond that as long as it comes with a kibibyte a second.
PATIENCE_SECONDS = 60
BYTES_PER_SECOND = 1024
MAX_DRAINED = 64 * 1024 * 1024


class ClientGoneError(Exception):
    """The client closed the connection before its body was here."""


@dataclass
class Body:
    """A request's body: what was kept of it, and how long it is. `is_whole` tells whether all of it was received."""

    spool: Spool
    length: int = 0
    is_whole: bool = True


async def receive_body(receive: Receive, body: Body, *, declared: int | None, keep: int, waits: bool) -> None:
    """Receive a body of `declared` bytes (None: chunked, RFC 9112 7.1), keeping at most `keep` of them.

    What is beyond is read and thrown away: a client that sends its body to the end would else not see the refusal.
    Not so where it `waits` for 100 Continue (RFC 9110 10.1.1), and beyond reason. Raises ClientGoneError,
    RefusedError.
    """
    if declared is not None and declared > keep and (waits or declared > MAX_DRAINED):
        body.length, body.is_whole = declared, False
        return
    started = time.monotonic()
    more = True
    while more:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                message = await receive()
        except TimeoutError:
            raise RefusedError(408) from None
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        data: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        if data and body.length < keep:
            body.spool.write(data[: keep - body.length])
        body.length += len(data)
        if body.length > MAX_DRAINED and more:
            body.is_whole = False
            return
        # The limit of silence alone would let a client send a byte now and then for hours.
        if more and time.monotonic() - started > PATIENCE_SECONDS + body.length / BYTES_PER_SECOND:
            raise RefusedError(408)
