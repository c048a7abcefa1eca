"""uvicorn's HTTP/1.1 connection with time limits for the client and error responses in the service's own format."""

import asyncio
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias, cast
from weakref import WeakKeyDictionary

import h11
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from contacts_project.kernel.api.request_log import count_refusal
from contacts_project.server.bodies import Message, Space
from contacts_project.server.refusals import refusal
from contacts_project.server.request_head import Scope, caller_of

HEADER_TIMEOUT_SECONDS = 20
SEND_TIMEOUT_SECONDS = 30
# The kernel reserves twice this value. By itself it would grow the buffer to 4 MiB for a response that nobody reads.
SEND_BUFFER_BYTES = 128 * 1024
# SO_LINGER, on with 0 seconds: close() sends a reset and discards the send buffer.
NO_LINGER = struct.pack("ii", 1, 0)
# What is written at once by itself: to join it with what follows would copy it.
_MAX_HELD_BYTES = 16 * 1024
#: The key of the connection in the state of a request's scope.
CONNECTION = "connection"
# The rest of a body that is not taken is read and forgotten for so long: a client that sends it all before it reads
# the response would get a reset instead.
LINGER_SECONDS, LINGER_SECONDS_OF_SLOW = 30, 2

# A connection whose client does not read may be closed early after this time without a read.
STALLED_SECONDS = 3
# Parts of a body that are parsed at once of what is read at once: most bodies have no more.
FIRST_DATA_EVENTS = 8
DATA_EVENTS_PER_TURN = 64
_Event: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class PacedParser(h11.Connection):
    """Parses `events_left` parts of a body, and then says that it needs more data until that is set again.

    A chunk of one byte costs the event loop as much as a large one, and one read may bring forty thousand of them.
    """

    events_left = FIRST_DATA_EVENTS
    has_more = False

    def next_event(self) -> _Event:
        self.has_more = self.events_left <= 0
        if self.has_more:
            return h11.NEED_DATA
        event: _Event = super().next_event()
        if isinstance(event, h11.Data):
            self.events_left -= 1
        return event


class BodyFlow(FlowControl):
    """Reads no more from a connection while `is_held`: what was read is not parsed yet."""

    is_held = False

    def resume_reading(self) -> None:
        if not self.is_held:
            super().resume_reading()


# When each connection stopped that waits for its client to read, the oldest first. Only the event loop uses it.
stalled_connections: dict["HttpConnection", float] = {}
# By event loop: the connections that have more to parse. One of them does so in each iteration of its loop.
_parsing: WeakKeyDictionary[asyncio.AbstractEventLoop, deque["HttpConnection"]] = WeakKeyDictionary()


def _give_turn(loop: asyncio.AbstractEventLoop) -> None:
    waiting = _parsing[loop]
    connection = waiting.popleft()
    if waiting:
        loop.call_soon(_give_turn, loop)
    connection.parse_more()


class JoiningTransport:
    """A transport that sends a small piece, such as headers, together with the piece that follows, or alone at the end
    of this iteration of the event loop. Each piece that is sent by itself wakes the client."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, linger: Callable[[], bool] = bool
    ) -> None:
        """`linger` returns whether it closes the transport itself, later."""
        self._transport, self._loop, self._linger, self._held = transport, loop, linger, b""
        self.is_lingering = False

    def write(self, data: bytes) -> None:
        if self._held:
            self._transport.write(self._held + data)
            self._held = b""
        elif len(data) > _MAX_HELD_BYTES:
            self._transport.write(data)
        elif data:
            self._held = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        self._flush()
        self.is_lingering = not self.is_lingering and self._linger()
        if not self.is_lingering:
            self._transport.close()

    def is_closing(self) -> bool:
        return self.is_lingering or self._transport.is_closing()

    def _flush(self) -> None:
        if self._held:
            self._transport.write(self._held)
            self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class HttpConnection(H11Protocol):
    """One client's connection.

    The headers of a request must be complete HEADER_TIMEOUT_SECONDS after its first byte (or after connecting). A chunk
    of a response, at most 64 KiB, must be accepted by the network within SEND_TIMEOUT_SECONDS.
    """

    # Set at the start to what the limit of open files allows.
    max_connections: ClassVar[int] = 1000

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn: PacedParser = PacedParser(h11.SERVER, self.config.h11_max_incomplete_event_size or 0)
        self.header_timer: asyncio.TimerHandle | None = None
        self.send_timer: asyncio.TimerHandle | None = None
        self.caller: object = None
        self.disconnected: asyncio.Future[Message] = self.loop.create_future()
        """Done when the client has disconnected."""
        self.app_state = {**self.app_state, CONNECTION: self}
        self.linger_seconds = LINGER_SECONDS
        self.linger_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", JoiningTransport(transport, self.loop, self._linger))
        self.flow: BodyFlow = BodyFlow(transport)
        # With more, the process could not open files any more: no database, no photos, for any client.
        if len(self.connections) > HttpConnection.max_connections:
            self.abort()
        # Backpressure from the first byte that the kernel does not take: pause_writing starts the send timer.
        transport.set_write_buffer_limits(high=0)
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        # Otherwise the body waits 40 ms until the headers are acknowledged (Nagle, delayed ACK). asyncio sets this
        # itself, but not on connections of an inherited listener.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._update_header_timer()

    def data_received(self, data: bytes) -> None:
        if self.linger_timer is not None:
            return
        if not self.flow.is_held:
            self.conn.events_left = FIRST_DATA_EVENTS
        super().data_received(data)
        self._update_header_timer()

    def parse_more(self) -> None:
        """Parse the next part of what was read. Its turn has come."""
        self.flow.is_held = False
        if self.disconnected.done() or self.transport.is_closing():
            return
        self.conn.events_left = DATA_EVENTS_PER_TURN
        self.handle_events()
        if self.conn.their_state is h11.SEND_BODY and len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()
        self._update_header_timer()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.has_more and not self.flow.is_held:
            self.flow.pause_reading()
            self.flow.is_held = True
            waiting = _parsing.setdefault(self.loop, deque())
            waiting.append(self)
            if len(waiting) == 1:
                self.loop.call_soon(_give_turn, self.loop)
        # After a complete body nobody asks for more, but its client may disconnect. Not if it has sent more: that
        # waits until the response is sent.
        if self.cycle is not None and not self.cycle.more_body and not self.conn.trailing_data[0]:
            self.flow.resume_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # pipelining: the beginning of the next request is here already
            self._update_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        if self.linger_timer is not None:
            self.linger_timer.cancel()
        self.disconnected.set_result({"type": "http.disconnect"})
        # Wake the task that waits for the client to read: it then finds that the client is gone.
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.caller = caller_of(cast("Scope", self.scope)) if self.scope else None
        stalled_connections[self] = time.monotonic()
        self.send_timer = self.loop.call_later(SEND_TIMEOUT_SECONDS, self.abort)

    def resume_writing(self) -> None:
        stalled_connections.pop(self, None)
        if self.send_timer is not None:
            self.send_timer.cancel()
            self.send_timer = None
        super().resume_writing()

    def abort(self) -> None:
        """Close the connection with a reset. After a normal close the kernel would keep unsent data for minutes."""
        with suppress(OSError):  # closed already
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.transport.abort()

    def drop(self, status: int) -> None:
        """Refuse a request whose body comes too slowly, or is too much."""
        if not self.transport.is_closing():
            self.linger_seconds = LINGER_SECONDS_OF_SLOW
            self._refuse(status)

    def _linger(self) -> bool:
        """Whether the connection is closed later: the response is sent, but its client still sends the body."""
        if (
            self.linger_timer is not None
            or self.conn.their_state is not h11.SEND_BODY
            or not self.transport.can_write_eof()
        ):
            return False
        transport = cast("JoiningTransport", self.transport)._transport
        if transport.is_closing():
            return False
        self.linger_timer = self.loop.call_later(self.linger_seconds, transport.close)
        transport.write_eof()
        self.flow.is_held = False
        self.flow.resume_reading()
        return True

    def send_400_response(self, msg: str) -> None:
        """Override: uvicorn calls it while it handles h11's error, which suggests a more exact status."""
        self._refuse(getattr(sys.exc_info()[1], "error_status_hint", 400))

    def _update_header_timer(self) -> None:
        """Run the timer exactly while the headers of a request are expected."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_header_timer()
        elif self.header_timer is None:
            self.header_timer = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._refuse, 408)

    def _stop_header_timer(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
            self.header_timer = None

    def _refuse(self, status: int) -> None:
        # The headers of a response were sent already: the client would read the refusal as part of its body.
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.abort()
            return
        count_refusal(None, status)
        if self.cycle is not None:
            # The application may still work on a response; uvicorn must not send it after this one.
            self.cycle.disconnected = True
        headers, body = refusal(status)
        for event in (
            h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status]),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def free_space(windows: Space) -> None:
    """Close the connection that has stalled for longest, if the beginnings of responses take more than half of it."""
    oldest = next(iter(stalled_connections.items()), None)
    if oldest and windows.used > windows.total // 2 and oldest[1] <= time.monotonic() - STALLED_SECONDS:
        oldest[0].abort()


def close_stalled_connection(caller: object) -> None:
    """Close the caller's connection that has stalled for longest, if that is at least STALLED_SECONDS."""
    oldest = next((found for found in stalled_connections.items() if found[0].caller == caller), None)
    if oldest and oldest[1] <= time.monotonic() - STALLED_SECONDS:
        oldest[0].abort()
