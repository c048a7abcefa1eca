"""Connections that go to the checked address and end at the call's deadline.

urllib3 asks `_new_conn` for a socket; here that resolves the name once, judges every address and connects
to one of those, so nothing can change between check and connect. SNI and the certificate's name stay with
the host. Every read and write draws on the call's one deadline: a server that drips bytes is cut like a
silent one.
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
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from contacts_project.kernel.outbound.failures import Code, OutboundError, classify
from contacts_project.kernel.outbound.policy import (
    Policy,
    Refused,
    Schemes,
    Target,
    check_addresses,
    refuse_plain_http,
)
from contacts_project.kernel.outbound.ranges import IPAddress

Resolver = Callable[[str, int], list[IPAddress]]


class Deadline:
    """A point in monotonic time that a whole call has to meet.

    With `connect_seconds` the connection has to stand by then; with `idle_seconds` no single read or write may take
    longer, for answers that are long but keep coming.
    """

    def __init__(
        self, seconds: float, *, connect_seconds: float | None = None, idle_seconds: float | None = None
    ) -> None:
        now = time.monotonic()
        self._end = now + seconds
        self._connect_end = now + min(seconds, connect_seconds or seconds)
        self._idle_seconds = idle_seconds or seconds

    def remaining(self) -> float:
        """Seconds left for the next read or write; raises TimeoutError when there are none."""
        return min(_until(self._end), self._idle_seconds)

    def to_connect(self) -> float:
        """Seconds left to resolve, connect and shake hands; raises TimeoutError when there are none."""
        return _until(self._connect_end)


def _until(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("The deadline has passed.")
    return left


@dataclass(slots=True)
class Call:
    """One request on its way: where to, under which rules, until when, and whether any of it has been sent."""

    target: Target
    policy: Policy
    schemes: Schemes
    resolve: Resolver
    deadline: Deadline
    has_sent: bool = False

    def addresses(self) -> list[IPAddress]:
        """The target's addresses, all allowed; raises OutboundError with `dns` or `blocked`."""
        target = self.target
        try:
            if target.literal is not None:
                return check_addresses(target, [target.literal], self.policy, self.schemes)
            found = self._look_up()
            if not found:
                refuse_plain_http(target, self.schemes)
                raise OutboundError(Code.DNS, "The host name did not resolve.")
            return check_addresses(target, found, self.policy, self.schemes)
        except Refused as refused:
            raise OutboundError(Code.BLOCKED, str(refused), reason=refused.reason) from refused

    def connect(self, host: str, port: int) -> "DeadlineSocket":
        """A connected socket to one of the allowed addresses, each given its share of the time left."""
        if (host.strip("[]"), port) != (self.target.host, self.target.port):
            raise OutboundError(Code.BLOCKED, "The connection is not the one that was checked.")
        addresses = self.addresses()
        failure: OSError = TimeoutError()
        for number, address in enumerate(addresses):
            try:
                return _connect(address, port, self.deadline.to_connect() / (len(addresses) - number))
            except OSError as error:
                failure = error
        code = Code.TIMEOUT if classify(failure) is Code.TIMEOUT else Code.REFUSED
        raise OutboundError(code, "No connection could be made.") from failure

    def _look_up(self) -> list[IPAddress]:
        """Asks the resolver in a thread of its own, since getaddrinfo knows no deadline."""
        answers: queue.SimpleQueue[list[IPAddress] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self.resolve(self.target.host, self.target.port))
            except Exception as error:  # noqa: BLE001 - carried over to the asking thread
                answers.put(error)

        # A daemon: a resolver that never answers must not keep the process from ending.
        threading.Thread(target=ask, name="outbound-resolver", daemon=True).start()
        try:
            answer = answers.get(timeout=self.deadline.to_connect())
        except queue.Empty:
            raise OutboundError(Code.TIMEOUT, "The host name did not resolve in time.") from None
        if isinstance(answer, (socket.gaierror, UnicodeError)):
            return []
        if isinstance(answer, Exception):
            raise OutboundError(Code.DNS, "The host name could not be looked up.") from answer
        return answer


CURRENT_CALL: ContextVar[Call] = ContextVar("outbound_call")


def system_resolve(host: str, port: int) -> list[IPAddress]:
    """The operating system's answer, each address once, in its order."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(_address(answer[4][0]) for answer in answers))


class DeadlineSocket(socket.socket):
    """A plain socket whose reads and writes end at the current call's deadline."""

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Reads within what is left of the call."""
        self.settimeout(CURRENT_CALL.get().deadline.remaining())
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """Writes within what is left of the call."""
        call = CURRENT_CALL.get()
        self.settimeout(call.deadline.remaining())
        call.has_sent = True
        super().sendall(*args, **kwargs)


class DeadlineSSLSocket(ssl.SSLSocket):
    """The same over TLS, the handshake included."""

    def do_handshake(self, *args: Any, **kwargs: Any) -> None:
        """Shakes hands within what is left of the time to connect."""
        self.settimeout(CURRENT_CALL.get().deadline.to_connect())
        super().do_handshake(*args, **kwargs)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Reads within what is left of the call."""
        self.settimeout(CURRENT_CALL.get().deadline.remaining())
        return super().recv_into(*args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Writes within what is left of the call; sendall comes through here."""
        call = CURRENT_CALL.get()
        self.settimeout(call.deadline.remaining())
        call.has_sent = True
        return super().send(*args, **kwargs)


class CheckedHTTPConnection(HTTPConnection):
    """Plain HTTP to a checked address."""

    def _new_conn(self) -> socket.socket:
        return CURRENT_CALL.get().connect(self.host, self.port)


class CheckedHTTPSConnection(HTTPSConnection):
    """HTTPS to a checked address; SNI and the certificate's name stay the host's."""

    def _new_conn(self) -> socket.socket:
        return CURRENT_CALL.get().connect(self.host, self.port)


class CheckedHTTPPool(HTTPConnectionPool):
    """A pool of checked connections."""

    ConnectionCls = CheckedHTTPConnection


class CheckedHTTPSPool(HTTPSConnectionPool):
    """A pool of checked TLS connections."""

    ConnectionCls = CheckedHTTPSConnection


def _connect(address: IPAddress, port: int, seconds: float) -> DeadlineSocket:
    connection = DeadlineSocket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        connection.connect((str(address), port))
    except BaseException:
        connection.close()
        raise
    return connection


def _address(text: str | int) -> IPAddress:
    return ipaddress.ip_address(str(text))
