"""Space for bodies and responses between a client and a thread: small ones in memory, large ones on disk.

Bodies, the beginnings of responses, what slow readers leave of long ones, and the pages of health and of the client
have space of their own each (docs/fairness.md): no kind takes room of another.
"""

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, ClassVar, NamedTuple

from contacts_project.server.refusals import RefusedError

log = logging.getLogger(__name__)

MIB = 1024 * 1024
CHUNK_BYTES = 64 * 1024
# What of a response has room without being counted for its caller. A page of a hundred people takes half of it.
WINDOW_BYTES = 256 * 1024
# Above this sum, no more than CHUNK_BYTES of a body or response stay in memory. A file costs ten times the CPU.
BUSY_BYTES = 32 * MIB
# What a slow reader leaves is in files of this size, each of which is deleted once it has been read.
SEGMENT_BYTES = 8 * MIB
# Of a response that another part of the service reads as a whole.
MAX_WHOLE_BYTES = 64 * MIB


class Holder(NamedTuple):
    """Whose bytes are counted. `caller` is an account if it is known; an empty address is not counted."""

    caller: object
    address: str


class Space:
    """How many bytes are held at once: in all, by each caller and by each address. Used by threads and event loop."""

    def __init__(self, total: int, per_caller: int | None = None) -> None:
        self.total = total
        self.per_caller = total if per_caller is None else per_caller
        # Many users may share an address. Accounts are made in a row: without this limit, one address could have all.
        self.per_address = total if per_caller is None else max(total // 2, self.per_caller)
        self.used = 0
        self.held: Counter[tuple[str, object]] = Counter()
        self._lock = threading.Lock()

    def take(self, holder: Holder, number: int, *, is_urgent: bool = False) -> bool:
        """Count the bytes, unless a limit would be passed and they are not urgent."""
        with self._lock:
            if not is_urgent and self._passed_limit(holder, number) is not None:
                return False
            self._count(holder, number)
            return True

    def give_back(self, holder: Holder, number: int) -> None:
        with self._lock:
            self._count(holder, -number)

    def passed_limit(self, holder: Holder, number: int) -> str | None:
        """Which limit so many more bytes would pass: of the `caller`, of the `address`, or of `all`; None if none."""
        with self._lock:
            return self._passed_limit(holder, number)

    def _passed_limit(self, holder: Holder, number: int) -> str | None:
        if self.held["caller", holder.caller] + number > self.per_caller:
            return "caller"
        if holder.address and self.held["address", holder.address] + number > self.per_address:
            return "address"
        return "all" if self.used + number > self.total else None

    def _count(self, holder: Holder, number: int) -> None:
        self.used += number
        for key in (("caller", holder.caller), ("address", holder.address)):
            self.held[key] += number
            # Counters keep zeros: keys of callers that are gone would pile up.
            if not self.held[key]:
                del self.held[key]


class Spool:
    """A request body: bytes that are written once and then read once. Must be closed after use.

    More than WINDOW_BYTES go to an unnamed temporary file; more than CHUNK_BYTES do so while much is in memory.
    """

    #: Of all spools of the process, bodies and responses.
    total_bytes: ClassVar[int] = 0
    _lock: ClassVar[threading.Lock] = threading.Lock()  # of it: threads and the event loop write

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=WINDOW_BYTES)  # noqa: SIM115 - closed by close()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append `data`, for which its owner has taken space. Raises RefusedError (503) if the disk is full."""
        # Before the write, which may fail: close() subtracts exactly what was added here.
        self.size += len(data)
        Spool.count(len(data))
        try:
            if self.size > CHUNK_BYTES and Spool.total_bytes > BUSY_BYTES:
                self.file.rollover()
            self.file.write(data)
        except OSError as error:
            raise disk_full(self.size, error) from error

    def close(self) -> None:
        self.file.close()
        Spool.count(-self.size)
        self.size = 0

    @classmethod
    def count(cls, number: int) -> None:
        with cls._lock:
            cls.total_bytes += number


def disk_full(size: int, error: OSError) -> RefusedError:
    """The refusal where the disk is full, or no folder for temporary files is writable."""
    log.warning("Cannot keep a body or an answer of %d bytes in a temporary file: %s", size, error)
    return RefusedError(503)


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
            taken = self.windows.take(self.holder, number, is_urgent=bool(self.size) and not unread)
            self._in_window += number if taken else 0
            return taken
        if not self._has_disk or (self.whole and self.size + number > MAX_WHOLE_BYTES):
            return False
        taken = self.space.take(self.holder, number)
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
            self.space.give_back(self.holder, of_space)
            self._in_space -= of_space
        if surplus > of_space:
            self.windows.give_back(self.holder, surplus - of_space)
            self._in_window -= surplus - of_space

    def _tell_reader(self) -> None:
        if self._loop is None or not self._is_long or self._news.is_set():
            return
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self._loop.call_soon_threadsafe(self._news.set)
