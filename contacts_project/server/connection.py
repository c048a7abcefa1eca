"""uvicorn's HTTP/1.1 connection, with time limits for its client and refusals in the service's own shape."""

import asyncio
import socket
import struct
import sys
import time
from typing import Any, ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from contacts_project.kernel.api.middleware import count_refusal
from contacts_project.server.environ import Scope, caller_of
from contacts_project.server.refusals import refusal
from contacts_project.server.stalled import stalled

HEAD_SECONDS = 20
READ_SECONDS = 30
# Half of what the kernel keeps for a connection; left to itself it takes up to 4 MiB of each answer that nobody reads.
KERNEL_BYTES = 128 * 1024
NO_LINGER = struct.pack("ii", 1, 0)


class Connection(H11Protocol):
    """One client's connection.

    A request's head must be here `HEAD_SECONDS` after its first byte (or after connecting), and what was handed to the
    network, at most 64 KiB a time, must be taken within `READ_SECONDS`.
    """

    # How many there may be at a time; set to what the system allows.
    most: ClassVar[int] = 1000

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.head_timer: asyncio.TimerHandle | None = None
        self.read_timer: asyncio.TimerHandle | None = None
        self.caller: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # Beyond this the system refuses to open files: for the database and for everybody else, too.
        if len(self.connections) > Connection.most:
            self.cut()
        transport.set_write_buffer_limits(high=0)  # whatever is not taken at once counts as unread
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
        # Else the body waits 40 ms for the head to be acknowledged; asyncio misses it on an inherited listener.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the beginning of the next request
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        # Whoever waits to send must go on and find that nobody is there.
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.caller = caller_of(cast("Scope", self.scope)) if self.scope else None
        stalled[self] = time.monotonic()
        self.read_timer = self.loop.call_later(READ_SECONDS, self.cut)

    def resume_writing(self) -> None:
        stalled.pop(self, None)
        if self.read_timer is not None:
            self.read_timer.cancel()
            self.read_timer = None
        super().resume_writing()

    def cut(self) -> None:
        """Close the connection at once, and have the kernel forget what it holds for it: else it does for minutes."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls while it handles h11's error, which knows better which status fits."""
        self._refuse(getattr(sys.exc_info()[1], "error_status_hint", 400))

    def _watch_head(self) -> None:
        """Have the timer run while the head of a request is awaited, and at no other time."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_head_timer()
        elif self.head_timer is None:
            self.head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)

    def _stop_head_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def _refuse(self, status: int) -> None:
        # The head of an answer is out already: a refusal behind it would be read as its body.
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.cut()
            return
        count_refusal(None, status)
        if self.cycle is not None:
            self.cycle.disconnected = True  # should the application be at work on an answer, it is for nobody
        headers, body = refusal(status)
        for event in (
            h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status]),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
