"""Connections to checked addresses, with one deadline for the whole call.

urllib3 calls `_new_conn` for a socket. It resolves the name once, checks every address and connects to one of
them, so that the address cannot change between check and connect (DNS rebinding). SNI and the name that the
certificate must have remain the host name. Every read and write has the rest of the call's deadline as its timeout:
a server that sends a byte now and then is cut off like a silent one.
"""

import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from contacts_project.kernel.outbound.failures import Code, OutboundError, classify
from contacts_project.kernel.outbound.policy import (
    BlockedError,
    CheckedUrl,
    IPAddress,
    Policy,
    Schemes,
    check_addresses,
    check_scheme,
)

Resolver = Callable[[str, int], list[IPAddress]]


# A server that sends or takes less than this is cut off: MIN_BYTES in PACE_SECONDS of waiting for it.
MIN_BYTES, PACE_SECONDS = 60 * 1024, 60.0


class Pace:
    """The speed of one direction of a call. Only time spent waiting for the server counts, not the caller's work."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._bytes = 0

    def remaining(self) -> float:
        """Return the seconds left in which the server has to reach MIN_BYTES. Raises TimeoutError if there are none."""
        if self._bytes >= MIN_BYTES:
            self._waited, self._bytes = 0.0, 0
        if self._waited >= PACE_SECONDS:
            raise TimeoutError("The server is too slow.")
        return PACE_SECONDS - self._waited

    def add(self, seconds: float, size: int) -> None:
        self._waited += seconds
        self._bytes += size


class Deadline:
    """The deadline of a whole call, on the monotonic clock.

    `connect_seconds` limits connecting. `idle_seconds` limits each read or write, for long responses that may take
    a while as long as data keeps arriving; they also need a minimum speed (`Pace`), from their first byte on, before
    which the server may work for as long as `idle_seconds` allows.
    """

    def __init__(
        self, seconds: float, *, connect_seconds: float | None = None, idle_seconds: float | None = None
    ) -> None:
        now = time.monotonic()
        self._end = now + seconds
        self._connect_end = now + min(seconds, connect_seconds or seconds)
        self._idle_seconds = idle_seconds or seconds
        self._reading: Pace | None = None  # from the first byte of the response on
        self._writing = Pace()

    def remaining(self) -> float:
        """Return the seconds left for the next read or write. Raises TimeoutError if there are none."""
        return min(_seconds_until(self._end), self._idle_seconds)

    def read(self, connection: socket.socket, receive: Callable[[], int]) -> int:
        """Call `receive`, which returns the number of bytes, with the time that is left. Raises TimeoutError."""
        size = self._timed(connection, receive, self._reading)
        self._reading = self._reading or Pace()
        return size

    def write(self, connection: socket.socket, send: Callable[[], int]) -> int:
        """Call `send`, which returns the number of bytes, with the time that is left. Raises TimeoutError."""
        return self._timed(connection, send, self._writing)

    def _timed(self, connection: socket.socket, transfer: Callable[[], int], pace: Pace | None) -> int:
        seconds = self.remaining()
        connection.settimeout(seconds if pace is None else min(seconds, pace.remaining()))
        started = time.monotonic()
        size = transfer()
        if pace is not None:
            pace.add(time.monotonic() - started, size)
        return size

    def remaining_to_connect(self) -> float:
        """Return the seconds left for DNS, connect and TLS handshake. Raises TimeoutError if there are none."""
        return _seconds_until(self._connect_end)


def _seconds_until(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("The deadline has passed.")
    return left


@dataclass(slots=True)
class Call:
    """One request in progress: its target, policy and deadline, and whether any of it has been sent."""

    target: CheckedUrl
    policy: Policy
    schemes: Schemes
    resolve: Resolver
    deadline: Deadline
    has_sent: bool = False

    def resolve_addresses(self) -> list[IPAddress]:
        """Return the addresses of the target; all are allowed. Raises OutboundError `dns`, `timeout` or `blocked`."""
        target = self.target
        try:
            if target.literal is not None:
                return check_addresses(target, [target.literal], self.policy, self.schemes)
            found = self._resolve()
            if not found:
                # check_url may have left plain http to the check of the addresses, and there are none.
                check_scheme(target, self.schemes)
                raise OutboundError(Code.DNS, "The host name did not resolve.")
            return check_addresses(target, found, self.policy, self.schemes)
        except BlockedError as refused:
            raise OutboundError(Code.BLOCKED, refused.text, reason=refused.reason) from refused

    def connect(self, host: str, port: int) -> "DeadlineSocket":
        """Return a socket connected to one of the allowed addresses. Each gets an equal share of the time left."""
        if (host.strip("[]"), port) != (self.target.host, self.target.port):
            raise OutboundError(Code.BLOCKED, "The connection is not the one that was checked.")
        addresses = self.resolve_addresses()
        failure: OSError = TimeoutError()
        for number, address in enumerate(addresses):
            try:
                return _connect(address, port, self.deadline.remaining_to_connect() / (len(addresses) - number))
            except OSError as error:
                failure = error
        code = Code.TIMEOUT if classify(failure) is Code.TIMEOUT else Code.REFUSED
        raise OutboundError(code, "No connection could be made.") from failure

    def _resolve(self) -> list[IPAddress]:
        """Call the resolver in a separate thread, because getaddrinfo has no timeout."""
        answers: queue.SimpleQueue[list[IPAddress] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self.resolve(self.target.host, self.target.port))
            except Exception as error:  # noqa: BLE001 - handed to the calling thread
                answers.put(error)

        # A daemon thread, so that a resolver that never returns does not keep the process from exiting.
        threading.Thread(target=ask, name="outbound-resolver", daemon=True).start()
        try:
            answer = answers.get(timeout=self.deadline.remaining_to_connect())
        except queue.Empty:
            raise OutboundError(Code.TIMEOUT, "The host name did not resolve in time.") from None
        # getaddrinfo raises UnicodeError for labels that its IDNA codec cannot encode.
        if isinstance(answer, (socket.gaierror, UnicodeError)):
            return []
        if isinstance(answer, Exception):
            raise OutboundError(Code.DNS, "The host name could not be looked up.") from answer
        return answer


CURRENT_CALL: ContextVar[Call] = ContextVar("outbound_call")


def system_resolve(host: str, port: int) -> list[IPAddress]:
    """Return the addresses from the operating system's resolver, in its order, without duplicates."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(str(answer[4][0])) for answer in answers))


class DeadlineSocket(socket.socket):
    """A socket whose reads and writes time out at the deadline of the current call."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        receive = partial(super().recv_into, *args, **kwargs)
        return CURRENT_CALL.get().deadline.read(self, receive)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        # Its timeout covers all of it, so that no speed has to be measured.
        call = CURRENT_CALL.get()
        self.settimeout(call.deadline.remaining())
        call.has_sent = True
        super().sendall(*args, **kwargs)


class DeadlineSSLSocket(ssl.SSLSocket):
    """A TLS socket whose handshake, reads and writes time out at the deadline of the current call."""

    def do_handshake(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(CURRENT_CALL.get().deadline.remaining_to_connect())
        super().do_handshake(*args, **kwargs)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        receive = partial(super().recv_into, *args, **kwargs)
        return CURRENT_CALL.get().deadline.read(self, receive)

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Also covers sendall, which ssl.SSLSocket implements with send."""
        call = CURRENT_CALL.get()
        call.has_sent = True
        return call.deadline.write(self, partial(super().send, *args, **kwargs))


class CheckedHTTPConnection(HTTPConnection):
    """Plain HTTP to a checked address. The socket comes from the current call, not from urllib3."""

    def _new_conn(self) -> socket.socket:
        return CURRENT_CALL.get().connect(self.host, self.port)


class CheckedHTTPSConnection(HTTPSConnection):
    """HTTPS to a checked address. urllib3 still uses the host name for SNI and to verify the certificate."""

    def _new_conn(self) -> socket.socket:
        return CURRENT_CALL.get().connect(self.host, self.port)


class CheckedHTTPPool(HTTPConnectionPool):
    ConnectionCls = CheckedHTTPConnection


class CheckedHTTPSPool(HTTPSConnectionPool):
    ConnectionCls = CheckedHTTPSConnection


def _connect(address: IPAddress, port: int, seconds: float) -> DeadlineSocket:
    connection = DeadlineSocket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        connection.connect((str(address), port))
    except BaseException:  # no socket may leak, not even on KeyboardInterrupt or a time limit of Celery
        connection.close()
        raise
    return connection


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the CAs of the system and those in `ca_file` (a PEM bundle)."""
    # The modification time is part of the cache key, so that a replaced file takes effect without a restart.
    return _build_context(ca_file, Path(ca_file).stat().st_mtime_ns if ca_file else 0)


@lru_cache(maxsize=4)
def _build_context(ca_file: str | None, mtime_ns: int) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        # Slim images have no system store, or one in a directory that OpenSSL reads on demand only.
        context.load_verify_locations(certifi.where())
    if ca_file:
        context.load_verify_locations(ca_file)
    context.sslsocket_class = DeadlineSSLSocket
    return context
