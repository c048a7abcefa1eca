"""Responses of the WSGI application, made in a thread and sent as they are made.

A slow reader holds neither a thread nor a database cursor, up to the space that its caller may hold.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any

from django.http.response import HttpResponseBase

from contacts_project.kernel.api.asgi_responses import AsgiResponse, EventStream
from contacts_project.kernel.api.request_log import ACCOUNT
from contacts_project.server.bodies import BUSY_BYTES, CHUNK_BYTES, MIB, WINDOW_BYTES, Holder, Space, Spool, disk_full
from contacts_project.server.refusals import Headers, RefusedError
from contacts_project.server.request_head import Environ

# What a slow reader leaves is in files of this size, each of which is deleted once it has been read.
SEGMENT_BYTES = 8 * MIB
# Of a response that another part of the service reads as a whole.
MAX_WHOLE_BYTES = 64 * MIB


class ReaderGoneError(Exception):
    """Nobody reads the response any more: its client has disconnected."""


class ResponseCutError(Exception):
    """The rest of a response, of which some was sent, cannot be made."""


class _Segment:
    """Some bytes of a response in a temporary file, written and read at the same time."""

    def __init__(self) -> None:
        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by what reads it
        self.written = self.read = 0

    def append(self, data: bytes) -> None:
        self.file.seek(self.written)
        self.file.write(data)
        self.written += len(data)

    def next_chunk(self) -> bytes:
        self.file.seek(self.read)
        chunk = self.file.read(min(CHUNK_BYTES, self.written - self.read))
        self.read += len(chunk)
        return chunk


class ResponseSpool:
    """A response between the thread that makes it and the event loop that sends it, as it is made.

    WINDOW_BYTES have room in `windows`; what has not been read beyond them is counted for `holder` in `space`. Where
    there is none, `write` waits until some was read, in the block `while_waiting`, which gives the thread to others.
    A response that is `whole` is read once it is complete, and never waits.
    """

    def __init__(self, windows: Space, space: Space, holder: Holder, *, whole: bool = False) -> None:
        self.windows, self.space, self.holder, self.whole = windows, space, holder, whole
        self.size = 0  # of what was written
        self.read = 0
        self.discards = False
        """Whether the bytes are only counted, as for a HEAD."""
        self.while_waiting: Callable[[], AbstractContextManager[object]] = nullcontext
        self.disconnect: Callable[[], object] = bool
        """Disconnects the client."""
        self.waiting_since = 0.0
        self._is_long = False  # more has been written than is kept, so that it is sent as it comes
        self._parts: deque[bytes | _Segment] = deque()
        self._in_window = self._in_space = 0
        self._changed = threading.Condition()
        self.is_closed = False
        self._has_ended, self._has_disk = False, True
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()

    # The thread that makes the response calls these.

    def write(self, data: bytes) -> None:
        """Append `data`. Raises ReaderGoneError, RefusedError (503: no room for a beginning, or none on the disk)."""
        if self.discards:
            self.size += len(data)
            return
        for start in range(0, len(data), CHUNK_BYTES):
            self._write_piece(data[start : start + CHUNK_BYTES])

    def end(self, error: BaseException | None = None) -> None:
        """Nothing more comes, or, with an error, nothing more can come."""
        with self._changed:
            self._has_ended, self._error = True, error
        self._tell_reader()

    def _write_piece(self, piece: bytes) -> None:
        with self._changed:
            is_kept = False
            while not is_kept:
                if not self._take_room(len(piece)):
                    self._wait_for_room(len(piece))
                if self.is_closed:
                    raise ReaderGoneError
                is_kept = self._append(piece)
            self._is_long = self._is_long or self.size >= WINDOW_BYTES
        self._tell_reader()

    def _wait_for_room(self, number: int) -> None:
        """Wait until the client has read, with the lock released. Others' space may become free meanwhile, too."""
        if self.whole or not self.size:
            raise RefusedError(503)
        self._is_long = True
        self.waiting_since = self.waiting_since or time.monotonic()
        self._changed.release()
        try:
            with self.while_waiting():
                self._tell_reader()
                with self._changed:
                    while not self.is_closed and not self._take_room(number):
                        self._changed.wait(1)
        finally:
            self._changed.acquire()

    def _take_room(self, number: int) -> bool:
        """Take it in the window, or beyond it in the space."""
        unread = self.size - self.read
        if unread + number <= WINDOW_BYTES:
            # A response that was begun goes on: at least one piece of it has always room.
            taken = self.windows.try_acquire(self.holder, number, is_urgent=bool(self.size) and not unread)
            self._in_window += number if taken else 0
            return taken
        if not self._has_disk or (self.whole and self.size + number > MAX_WHOLE_BYTES):
            return False
        taken = self.space.try_acquire(self.holder, number)
        self._in_space += number if taken else 0
        return taken

    def _append(self, piece: bytes) -> bool:
        """Keep the piece; returns False if it would have to be on the disk, and that is full."""
        in_memory = CHUNK_BYTES if Spool.total_bytes > BUSY_BYTES and self._has_disk else WINDOW_BYTES
        if self.size + len(piece) - self.read <= in_memory:
            self._parts.append(piece)
        else:
            try:
                self._append_to_file(piece)
            except OSError as error:
                # From here on the response waits for its reader instead.
                disk_full(self.size, error)
                self._has_disk = False
                self._give_back()
                return False
        self.size += len(piece)
        Spool.count(len(piece))
        return True

    def _append_to_file(self, piece: bytes) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Segment) and last.written < SEGMENT_BYTES:
            last.append(piece)
            return
        segment = _Segment()
        segment.append(piece)
        self._parts.append(segment)

    # The event loop calls these.

    async def wait_until_long(self, making: "asyncio.Future[None]") -> None:
        """Wait until the response is complete, or more of it has been written than is kept."""
        self._loop = asyncio.get_running_loop()
        making.add_done_callback(lambda _: self._news.set())
        while not making.done() and not self._is_long:
            await self._news.wait()
            self._news.clear()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes as they come. Raises ResponseCutError."""
        while True:
            self._news.clear()
            with self._changed:
                chunk, has_ended = self._next_chunk(), self._has_ended
            if chunk:
                yield chunk
            elif self._error is not None:
                raise ResponseCutError from self._error
            elif has_ended or self.is_closed:
                return
            else:
                await self._news.wait()

    def read_whole(self) -> bytes:
        """All of it, once it has ended."""
        with self._changed:
            return b"".join(iter(self._next_chunk, b""))

    def speed(self) -> float:
        """How many bytes a second its client has read since the response first waited for it."""
        return self.read / max(time.monotonic() - self.waiting_since, 0.001)

    def drop(self) -> None:
        """Make no more of it: its client reads too slowly."""
        self.close()
        self.disconnect()

    def close(self) -> None:
        """Nobody reads any more."""
        with self._changed:
            self.is_closed = True
            for part in self._parts:
                if isinstance(part, _Segment):
                    part.file.close()
            self._parts.clear()
            if not self.discards:
                Spool.count(self.read - self.size)
                self.read = self.size
            self._give_back()
            self._changed.notify_all()
        self._news.set()

    def _next_chunk(self) -> bytes:
        if not self._parts:
            return b""
        first = self._parts[0]
        if isinstance(first, _Segment):
            chunk = first.next_chunk()
            is_read = first.read == first.written
            if is_read:
                first.file.close()
        else:
            chunk, is_read = first, True
        if is_read:
            self._parts.popleft()
        self.read += len(chunk)
        Spool.count(-len(chunk))
        self._give_back()
        self._changed.notify_all()
        return chunk

    def _give_back(self) -> None:
        """Give back what the bytes that are left do not need, that of the space first."""
        surplus = self._in_window + self._in_space - (0 if self.discards else self.size - self.read)
        of_space = min(surplus, self._in_space)
        if of_space:
            self.space.release(self.holder, of_space)
            self._in_space -= of_space
        if surplus > of_space:
            self.windows.release(self.holder, surplus - of_space)
            self._in_window -= surplus - of_space

    def _tell_reader(self) -> None:
        if self._loop is None or not self._is_long or self._news.is_set():
            return
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(self._news.set)


WsgiApplication = Callable[[dict[str, Any], Any], HttpResponseBase]


@dataclass
class WsgiResponse:
    """The response to one request: a body in `spool`, an `event_stream`, or an `asgi_response` that ASGI code sends.

    `cpu_seconds` is the CPU time that the thread spent on it.
    """

    spool: ResponseSpool
    status: int = 500
    headers: Headers = field(default_factory=list)
    event_stream: EventStream | None = None
    asgi_response: AsgiResponse | None = None
    cpu_seconds: float = 0.0

    def produce(self, application: WsgiApplication, environ: Environ) -> None:
        """Call the application and write its whole body to the spool, also where Django streams it."""
        try:
            self._produce(application, environ)
        except ReaderGoneError:
            self.spool.end()
        except BaseException as error:
            self.spool.end(error)
            raise
        else:
            self.spool.end()

    def _produce(self, application: WsgiApplication, environ: Environ) -> None:
        started = time.thread_time()
        response = application(environ, self._start_response)
        # Now the account is known: what its credentials hold together is counted.
        if account := environ.pop(ACCOUNT, None):
            self.spool.holder = Holder(account, self.spool.holder.address)
        try:
            if isinstance(response, EventStream):
                self.event_stream = response
                return
            if isinstance(response, AsgiResponse):
                self.asgi_response = response
                return
            for chunk in response:
                self.spool.write(chunk)
        finally:
            # Sends request_finished, on which Django closes old database connections.
            response.close()
            self.cpu_seconds = time.thread_time() - started
        # RFC 9110 8.6: a 204 must not have a Content-Length; the one of a 304 would have to be that of the 200.
        if self.status not in {204, 304} and not any(name == b"content-length" for name, _ in self.headers):
            self.headers.append((b"content-length", b"%d" % self.spool.size))

    def _start_response(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        self.status = int(status.partition(" ")[0])
        # strip(): Django puts a space in front of the values of Set-Cookie.
        self.headers = [(name.lower().encode("latin1"), value.strip().encode("latin1")) for name, value in headers]
