"""Receives request bodies completely before a thread is used, with limits on size, time and space.

Bodies, the beginnings of responses, what slow readers leave of long ones, and the pages of health and of the client
have a Space of their own each (docs/fairness.md): no kind takes room of another.

Without a credential that the service knows, STRANGER_BYTES of a body are taken, for STRANGER_SECONDS at most. Every
body counts from its first byte: for its address, and for its account once that is known. If there is no space, the
upload that has held most for longest is dropped, of the account or address that has too much, or else of all.
"""

import asyncio
import io
import logging
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any, ClassVar, NamedTuple, Protocol

from django.core.exceptions import RequestDataTooBig

from contacts_project.server.refusals import RefusedError

log = logging.getLogger(__name__)

MIB = 1024 * 1024
CHUNK_BYTES = 64 * 1024
# What of a response has room without being counted for its caller. A page of a hundred people takes half of it.
WINDOW_BYTES = 256 * 1024
# Above this sum, no more than CHUNK_BYTES of a body or response stay in memory. A file costs ten times the CPU.
BUSY_BYTES = 32 * MIB


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

    def try_acquire(self, holder: Holder, number: int, *, is_urgent: bool = False) -> bool:
        """Count the bytes, unless a limit would be passed and they are not urgent."""
        with self._lock:
            if not is_urgent and self._passed_limit(holder, number) is not None:
                return False
            self._count(holder, number)
            return True

    def release(self, holder: Holder, number: int) -> None:
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


Message = Mapping[str, Any]
"""A message of ASGI."""
Receive = Callable[[], Awaitable[Message]]

STRANGER_BYTES = 64 * 1024
STRANGER_SECONDS = 60
IDLE_TIMEOUT_SECONDS = 30
# A body of an account may take this long; a longer one must arrive at MIN_BYTES_PER_SECOND from then on.
GRACE_SECONDS = 60
MIN_BYTES_PER_SECOND = 4096
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
# What a body counts from the moment on in which it is expected: it has a connection, and memory of uvicorn.
_LEAST_BYTES = 4096


class ClientDisconnectedError(Exception):
    """The client closed the connection before its body was complete, or the server did so to make room."""


class BodyConnection(Protocol):
    """The connection that a body comes from."""

    def drop(self, status: int) -> None:
        """Refuse the request and close the connection."""


class BodySpace:
    """The bodies of one kind of callers: those that come, and those that the application reads."""

    def __init__(self, total: int, per_caller: int) -> None:
        self.space = Space(total, per_caller)
        self.receiving: dict[Body, None] = {}

    def acquire(self, body: "Body", number: int) -> None:
        """Count so many bytes more for the body, and drop others to have room. Raises RefusedError."""
        while not self.space.try_acquire(body.holder, number):
            limit = self.space.passed_limit(body.holder, number)
            # Not a body that is complete: it is not slow, and its request may be running.
            costly = max((other for other in self.receiving if _share(limit, other, body)), key=Body.cost, default=body)
            if costly is body:
                raise RefusedError(503 if limit == "all" else 429)
            costly.drop()
        body.held += number


def _share(limit: str | None, one: "Body", other: "Body") -> bool:
    return limit in {None, "all"} or getattr(one.holder, str(limit)) == getattr(other.holder, str(limit))


@dataclass(eq=False)
class Body:
    """A request body. `spool` has the part that was kept, `length` counts all bytes.

    `is_complete` is false if the server stopped reading before the end. `is_rejected`: nothing of it can be read, since
    the service does not know who sends it.
    """

    holder: Holder
    space: BodySpace
    connection: BodyConnection | None = None
    spool: Spool = field(default_factory=Spool)
    length: int = 0
    held: int = 0
    is_complete: bool = True
    is_rejected: bool = False
    started: float = field(default_factory=time.monotonic)

    @property
    def file(self) -> IO[bytes]:
        """What the application reads."""
        if self.is_rejected:
            return RejectedFile()
        self.spool.file.seek(0)
        return self.spool.file

    def cost(self) -> float:
        """How much it has held for how long."""
        return self.held * (time.monotonic() - self.started)

    def begin(self) -> None:
        """Count it from now on. Raises RefusedError."""
        self.space.receiving[self] = None
        if not self.held:
            self.space.acquire(self, _LEAST_BYTES)

    def write(self, data: bytes) -> None:
        """Keep these bytes. Raises RefusedError, ClientDisconnectedError if the body was dropped."""
        if not data:
            return
        if self not in self.space.receiving:
            raise ClientDisconnectedError
        # The first bytes are counted already.
        if (more := self.spool.size + len(data) - self.held) > 0:
            self.space.acquire(self, more)
        self.spool.write(data)

    def move(self, holder: Holder, space: BodySpace) -> None:
        """Count it for another holder: its account has become known. Raises RefusedError, ClientDisconnectedError."""
        if self not in self.space.receiving:
            raise ClientDisconnectedError
        self.forget()
        self.holder, self.space = holder, space
        self.space.acquire(self, max(self.spool.size, _LEAST_BYTES))
        self.space.receiving[self] = None

    def forget(self) -> None:
        """Do not count it any more."""
        self.space.receiving.pop(self, None)
        self.space.space.release(self.holder, self.held)
        self.held = 0

    def drop(self) -> None:
        """End the upload at once: it is too slow, or too much."""
        self.close()
        if self.connection is not None:
            self.connection.drop(408)

    def end(self) -> None:
        """Nothing more comes. What has come stays until it is closed."""
        self.space.receiving.pop(self, None)

    def close(self) -> None:
        self.spool.close()
        self.forget()


class RejectedFile(io.BytesIO):
    """A long body of a stranger: to read it is a 413, so that what needs no body, such as a 401, is still answered."""

    def read(self, size: int | None = -1) -> bytes:
        raise RequestDataTooBig(f"Without a credential that is known here, a body has at most {STRANGER_BYTES} bytes.")

    def readline(self, size: int | None = -1) -> bytes:
        return self.read()


Identify = Callable[[], Awaitable[Holder | None]]
"""Looks up the credential of the request; None if the service does not know it."""


async def receive_body(
    receive: Receive,
    body: Body,
    *,
    content_length: int | None,
    limit: int,
    expects_continue: bool,
    identify: Identify,
    accounts: BodySpace,
) -> None:
    """Receive a body and keep at most `limit` bytes of it. `content_length` is None if it is chunked (RFC 9112 7.1).

    The caller is looked up, and counted in `accounts`, before more than STRANGER_BYTES are taken, and where strangers
    have filled their space. Of an account bytes beyond the limit are read and discarded: most clients send the whole
    body before they read the response, so that they would not see the refusal otherwise. A body is not read if its
    client waits for 100 Continue (RFC 9110 10.1.1), nor beyond MAX_DISCARDED_BYTES. Raises ClientDisconnectedError,
    RefusedError.
    """
    length = content_length or 0
    if length > limit and (expects_continue or length > MAX_DISCARDED_BYTES):
        body.length, body.is_complete = length, False
        return
    has_account, more = False, True
    if content_length != 0:
        has_account = await _have_room(body.begin, body, identify, accounts)
    if not has_account and length > STRANGER_BYTES:
        has_account = await _identify(body, length, identify, accounts)
        more = has_account
    while more:
        message = await _receive_in_time(receive, body, has_account=has_account)
        data, more = message.get("body", b""), message.get("more_body", False)
        if not has_account and body.length + len(data) > STRANGER_BYTES:
            has_account = await _identify(body, body.length + len(data), identify, accounts)
            if not has_account:
                break
        kept = data[: max(0, limit - body.length)]
        has_account = await _have_room(partial(body.write, kept), body, identify, accounts)
        body.length += len(data)
        if body.length > MAX_DISCARDED_BYTES and more:
            body.is_complete = False
            break
    body.end()


async def _have_room(take: Callable[[], None], body: Body, identify: Identify, accounts: BodySpace) -> bool:
    """Take bytes; of an account in its own space where strangers have filled theirs. Returns whether the body is
    counted for an account. Raises RefusedError."""
    try:
        take()
    except RefusedError:
        holder = None if body.space is accounts else await identify()
        if holder is None:
            raise
        body.move(holder, accounts)
        take()
    return body.space is accounts


async def _identify(body: Body, length: int, identify: Identify, accounts: BodySpace) -> bool:
    """Count the body for the account of its caller. Of a stranger nothing can be read. Raises RefusedError."""
    holder = await identify()
    if holder is None:
        body.length, body.is_complete, body.is_rejected = length, False, True
        return False
    body.move(holder, accounts)
    return True


async def _receive_in_time(receive: Receive, body: Body, *, has_account: bool) -> Message:
    elapsed = time.monotonic() - body.started
    left = (GRACE_SECONDS + body.length / MIN_BYTES_PER_SECOND if has_account else STRANGER_SECONDS) - elapsed
    try:
        # The idle timeout alone would let a client send one byte now and then for hours.
        async with asyncio.timeout(max(0, min(IDLE_TIMEOUT_SECONDS, left))):
            message = await receive()
    except TimeoutError:
        raise RefusedError(408) from None
    if message["type"] == "http.disconnect":
        raise ClientDisconnectedError
    return message
