"""Outbound sessions: `requests` sessions that enforce the outbound policy. All HTTP requests to others use them.

    with outbound_session(schemes=Schemes.HTTPS_ONLY) as session:
        check_status(session.request("POST", url, json=body))

They follow no redirects, use no proxy from the environment and store no cookies. One deadline covers the whole call,
connecting included; the body is read up to a limit, or streamed (OutboundResponse). Network errors raise OutboundError;
a response is returned whatever its status. An OutboundSession is a requests.Session, so that pywebpush accepts it;
`guard` applies the same policy to any other Session.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Self, TypeVar

import requests
import urllib3
from django.conf import settings
from requests.adapters import HTTPAdapter

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound import sockets
from contacts_project.kernel.outbound.exchanges import ExchangeRules, counted_exchange, host_call
from contacts_project.kernel.outbound.failures import Code, OutboundError, TooLongError, classify
from contacts_project.kernel.outbound.policy import BlockedError, CheckedUrl, Policy, Schemes, check_url
from contacts_project.kernel.outbound.sockets import (
    CURRENT_CALL,
    Call,
    CheckedHTTPPool,
    CheckedHTTPSPool,
    Deadline,
    Resolver,
    tls_context,
)

DEADLINE_SECONDS = 10.0
RESPONSE_BYTES = 64 * 1024
_BODY_CHUNK_BYTES = 16 * 1024
_STREAM_CHUNK_BYTES = 64 * 1024
# close() reads an unread body up to this size, so that the connection can be reused.
MAX_DRAIN_BYTES = 16 * 1024
USER_AGENT = "contact-network/1"

AnySession = TypeVar("AnySession", bound=requests.Session)
_max_bytes: ContextVar[int | None] = ContextVar("outbound_max_bytes", default=None)
_shared_sessions: "ContextVar[dict[Rules, OutboundSession] | None]" = ContextVar("outbound_sessions", default=None)


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits and policy of an outbound session.

    `seconds` limits the whole call, `connect_seconds` connecting, `idle_seconds` a single read or write. A body over
    `max_bytes` is an error, or is cut there with `truncate`. `exchanges` names the account that the calls belong to.
    """

    policy: Policy = field(default_factory=Policy)
    schemes: Schemes = Schemes.HTTP_OR_HTTPS
    seconds: float = DEADLINE_SECONDS
    connect_seconds: float | None = None
    idle_seconds: float | None = None
    max_bytes: int = RESPONSE_BYTES
    truncate: bool = False
    resolve: Resolver | None = None
    ca_file: str | None = None
    exchanges: ExchangeRules | None = None

    def check_url(self, url: str) -> CheckedUrl:
        """Return the target of the URL. Raises OutboundError `blocked` with the reason."""
        try:
            return check_url(url, self.policy, self.schemes)
        except BlockedError as refused:
            raise OutboundError(Code.BLOCKED, refused.text, reason=refused.reason) from refused

    def start_call(self, url: str, seconds: float | None = None, idle_seconds: float | None = None) -> Call:
        """Check the URL and start the deadline of a call. The arguments override the limits of the rules."""
        # Not the default of the field, so that tests can replace `sockets.system_resolve`.
        resolve = self.resolve or sockets.system_resolve
        deadline = Deadline(
            self.seconds if seconds is None else seconds,
            connect_seconds=self.connect_seconds,
            idle_seconds=idle_seconds or self.idle_seconds,
        )
        return Call(self.check_url(url), self.policy, self.schemes, resolve, deadline)


class OutboundResponse:
    """Status and headers of a response; the body can be read once, with `chunks()` or `read()`. Close it or use `with`.

    A body that was read to its end returns the connection to the pool. Reading raises OutboundError.
    """

    def __init__(self, response: requests.Response, call: Call) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.url = call.target.url
        self.on_end: Callable[[], object] = lambda: None
        """Called once the body has been read to its end, and again when the response is closed."""
        self._raw = response.raw
        self._call = call
        # Once urllib3 has begun to decompress a body it refuses to read the rest of it undecoded.
        self._is_decoding = False

    def chunks(self, max_bytes: int) -> Iterator[bytes]:
        """Yield the decompressed body. Raises TooLongError once it is longer than `max_bytes`."""
        size, self._is_decoding = 0, True
        pieces = self._raw.stream(_STREAM_CHUNK_BYTES, decode_content=True)
        while True:
            # Set for each read only: between two reads the caller may send other requests on this thread.
            token = CURRENT_CALL.set(self._call)
            try:
                with external_wait(), map_errors(self._call):
                    piece = next(pieces, None)
            finally:
                CURRENT_CALL.reset(token)
            if piece is None:
                self.on_end()
                return
            size += len(piece)
            if size > max_bytes:
                raise TooLongError
            yield piece

    def read(self, max_bytes: int) -> bytes:
        """The whole body."""
        return b"".join(self.chunks(max_bytes))

    def close(self) -> None:
        """Release the connection: to the pool if what is left of the body is short, otherwise it is closed."""
        token = CURRENT_CALL.set(self._call)
        try:
            with map_errors(self._call):
                # urllib3 returns the connection to the pool by itself once the body has been read to its end.
                self._raw.read(MAX_DRAIN_BYTES, decode_content=self._is_decoding)
        except OutboundError:
            pass  # the caller has all it wanted; the connection is only closed instead of reused
        finally:
            CURRENT_CALL.reset(token)
            self._raw.close()
            self.on_end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextmanager
def map_errors(call: Call) -> Iterator[None]:
    """Turn errors of sockets, urllib3 and requests into OutboundError, and set its `has_sent`."""
    try:
        yield
    except OutboundError as error:
        error.has_sent = call.has_sent
        raise
    except (OSError, HTTPException, urllib3.exceptions.HTTPError, zlib.error) as error:
        code = classify(error)
        raise OutboundError(code, f"The request failed ({code}).", has_sent=call.has_sent) from error


class OutboundAdapter(HTTPAdapter):
    """The transport adapter of a session. `send` returns responses with their body already read."""

    def __init__(self, rules: Rules, *, raise_redirects: bool = False) -> None:
        self.rules = rules
        self.raise_redirects = raise_redirects
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        """Use connection pools whose connections check their address."""
        super().init_poolmanager(connections, maxsize, block, ssl_context=tls_context(self.rules.ca_file), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": CheckedHTTPPool, "https": CheckedHTTPSPool}

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the TLS context has the trusted CAs; requests would load its own bundle for each connection."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Send within the deadline (`timeout`, for the whole call). Ignores stream, verify, cert and proxies."""
        # Waiting for the limits comes first, so that it does not count against the deadline of the call.
        host = self.rules.check_url(request.url or "").host
        with counted_exchange(self.rules.exchanges), host_call(host):
            response = self._send(request, sum(timeout) if isinstance(timeout, tuple) else timeout)
        if self.raise_redirects and 300 <= response.status_code < 400:
            raise OutboundError(Code.REDIRECT, status=response.status_code)
        return response

    def _send(self, request: requests.PreparedRequest, seconds: float | None) -> requests.Response:
        call = self.rules.start_call(request.url or "", seconds)
        request.url = call.target.url
        token = CURRENT_CALL.set(call)
        try:
            with external_wait(), map_errors(call):
                response = super().send(request, stream=True, timeout=call.deadline.remaining())
                _read_body(response, _max_bytes.get() or self.rules.max_bytes, truncate=self.rules.truncate)
        finally:
            CURRENT_CALL.reset(token)
        return response

    def open(self, request: requests.PreparedRequest, call: Call) -> OutboundResponse:
        """Send, and return before the body is read; the deadline of the call covers reading it too."""
        token = CURRENT_CALL.set(call)
        try:
            with external_wait(), map_errors(call):
                return OutboundResponse(super().send(request, stream=True, timeout=call.deadline.remaining()), call)
        finally:
            CURRENT_CALL.reset(token)


class OutboundSession(requests.Session):
    """A requests.Session that enforces `rules`. With `is_shared` (`reuse_sessions`) `with` does not close it."""

    def __init__(self, rules: Rules, *, is_shared: bool = False) -> None:
        super().__init__()
        self.rules = rules
        self.is_shared = is_shared
        self.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
        guard(self, rules)

    def check(self, url: str) -> CheckedUrl:
        """Check the URL and every address of its host without connecting. Raises OutboundError."""
        call = self.rules.start_call(url)
        with external_wait(), map_errors(call):
            call.resolve_addresses()
        return call.target

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """Like requests, but `timeout` is the deadline of the whole call; `max_bytes` overrides that of the rules."""
        token = _max_bytes.set(kwargs.pop("max_bytes", None))
        try:
            return super().request(method, self.rules.check_url(str(url)).url, *args, **kwargs)
        finally:
            _max_bytes.reset(token)

    def open(
        self,
        method: str,
        url: str,
        *,
        data: bytes = b"",
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        idle_seconds: float | None = None,
    ) -> OutboundResponse:
        """Send a request and return a response whose body is streamed. The path of the URL is sent unchanged.

        Connections are kept alive; the method is thread-safe. `seconds` and `idle_seconds` override the rules.
        """
        with ExitStack() as stack:
            # As in OutboundAdapter.send: before the deadline of the call starts.
            stack.enter_context(counted_exchange(self.rules.exchanges))
            response = self._open(method, url, data, headers or {}, seconds, idle_seconds)
            # It goes on until the body has been read, or the response is closed.
            response.on_end = stack.pop_all().close
            return response

    def _open(
        self,
        method: str,
        url: str,
        data: bytes,
        headers: Mapping[str, str],
        seconds: float | None,
        idle_seconds: float | None,
    ) -> OutboundResponse:
        call = self.rules.start_call(url, seconds, idle_seconds)
        prepared = self.prepare_request(requests.Request(method, call.target.url, headers=dict(headers), data=data))
        prepared.url = call.target.url  # prepare_request has normalized the percent-encoding of the path
        adapter = self.get_adapter(call.target.url)
        assert isinstance(adapter, OutboundAdapter)  # noqa: S101 - guard() mounts nothing else
        return adapter.open(prepared, call)

    def __exit__(self, *exc: object) -> None:
        if not self.is_shared:
            self.close()

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Never follow a redirect: a caller that wants to requests Location itself, so that the URL is checked."""


def guard(session: AnySession, rules: Rules, *, raise_redirects: bool = False) -> AnySession:
    """Apply the outbound policy to any Session, e.g. Authlib's. With `raise_redirects` a 3xx raises OutboundError."""
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.adapters.clear()
    adapter = OutboundAdapter(rules, raise_redirects=raise_redirects)
    for prefix in ("http://", "https://"):
        session.mount(prefix, adapter)
    return session


def configured_rules(**changes: Any) -> Rules:
    """Return Rules from the operator's settings; `changes` override fields of Rules."""
    policy = _parse_policy(_list_setting("OUTBOUND_ALLOWED_NETWORKS"), _list_setting("OUTBOUND_ALLOWED_PORTS"))
    ca_file = getattr(settings, "OUTBOUND_CA_FILE", None)
    return Rules(**{"policy": policy, "ca_file": str(ca_file) if ca_file else None, **changes})


def outbound_session(**changes: Any) -> OutboundSession:
    """Return an OutboundSession with the operator's settings; `changes` override fields of Rules. Use it in `with`."""
    rules, sessions = configured_rules(**changes), _shared_sessions.get()
    if sessions is None:
        return OutboundSession(rules)
    if rules not in sessions:
        sessions[rules] = OutboundSession(rules, is_shared=True)
    return sessions[rules]


@contextmanager
def reuse_sessions() -> Iterator[None]:
    """Inside the block, `outbound_session` returns the same session for equal rules, so that connections are reused.

    The URL of every request is checked; a reused connection goes to the address that was checked when it was made.
    """
    if _shared_sessions.get() is not None:
        yield
        return
    sessions: dict[Rules, OutboundSession] = {}
    token = _shared_sessions.set(sessions)
    try:
        yield
    finally:
        for session in sessions.values():
            session.close()
        _shared_sessions.reset(token)


@cache
def _parse_policy(networks: tuple[str, ...], ports: tuple[str, ...]) -> Policy:
    return Policy.parse(networks, ports)


def _list_setting(name: str) -> tuple[str, ...]:
    value: str | Iterable[str] | None = getattr(settings, name, None)
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(part for part in parts if str(part).strip())


def _read_body(response: requests.Response, max_bytes: int, *, truncate: bool) -> None:
    body = bytearray()
    for chunk in response.iter_content(_BODY_CHUNK_BYTES):
        body += chunk
        if len(body) > max_bytes:
            response.close()
            if not truncate:
                raise OutboundError(Code.UNEXPECTED_RESPONSE, "The answer is too long.")
            break
    # requests has no public way to set a body; these are the two attributes in which it stores one it has read.
    vars(response).update(_content=bytes(body[:max_bytes]), _content_consumed=True)
