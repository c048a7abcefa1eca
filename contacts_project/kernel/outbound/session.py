"""Outbound sessions: requests' own, under the outbound policy; the one way to the network.

    with outbound_session(schemes=Schemes.HTTPS_ONLY) as session:
        check_status(session.request("POST", url, json=body))

No redirects, no proxy from the environment, no cookies kept; one deadline for everything, connect included;
the body is read whole, up to a cap. What goes wrong on the way is an OutboundError with its code; an
answer, whatever its status, is returned. An OutboundSession is a requests.Session, so pywebpush takes one; `guard`
puts the same policy on any other Session.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar

import requests
from django.conf import settings
from requests.adapters import HTTPAdapter

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound import sockets
from contacts_project.kernel.outbound.answers import Answer, mapped_failures
from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.hosts import host_call
from contacts_project.kernel.outbound.policy import Policy, Refused, Schemes, Target, check_url
from contacts_project.kernel.outbound.sockets import (
    CURRENT_CALL,
    Call,
    CheckedHTTPPool,
    CheckedHTTPSPool,
    Deadline,
    Resolver,
)
from contacts_project.kernel.outbound.tls import tls_context

DEADLINE_SECONDS = 10.0
RESPONSE_BYTES = 64 * 1024
CHUNK_BYTES = 16 * 1024
USER_AGENT = "contact-network/1"

AnySession = TypeVar("AnySession", bound=requests.Session)
_max_bytes: ContextVar[int | None] = ContextVar("outbound_max_bytes", default=None)
_kept: "ContextVar[dict[Rules, OutboundSession] | None]" = ContextVar("outbound_kept", default=None)


@dataclass(frozen=True, slots=True)
class Rules:
    """What an outbound session allows. `seconds` is for a whole call, `connect_seconds` for its connection,
    `idle_seconds` for one read or write; a body over `max_bytes` is an error, or with `truncate` simply cut."""

    policy: Policy = field(default_factory=Policy)
    schemes: Schemes = Schemes.HTTP_OR_HTTPS
    seconds: float = DEADLINE_SECONDS
    connect_seconds: float | None = None
    idle_seconds: float | None = None
    max_bytes: int = RESPONSE_BYTES
    truncate: bool = False
    resolve: Resolver | None = None
    ca_file: str | None = None

    def check_url(self, url: str) -> Target:
        """The URL's target, or OutboundError `blocked` with the reason."""
        try:
            return check_url(url, self.policy, self.schemes)
        except Refused as refused:
            raise OutboundError(Code.BLOCKED, str(refused), reason=refused.reason) from refused

    def call(self, url: str, seconds: float | None = None, idle_seconds: float | None = None) -> Call:
        """A call to the URL whose clock starts now, with other limits than those of the rules where they are given."""
        # Looked up here and not as a default, so that a test can put another system resolver in place.
        resolve = self.resolve or sockets.system_resolve
        deadline = Deadline(
            self.seconds if seconds is None else seconds,
            connect_seconds=self.connect_seconds,
            idle_seconds=idle_seconds or self.idle_seconds,
        )
        return Call(self.check_url(url), self.policy, self.schemes, resolve, deadline)


class OutboundAdapter(HTTPAdapter):
    """The transport of requests under the rules; answers come back with their body read."""

    def __init__(self, rules: Rules, *, raise_redirects: bool = False) -> None:
        self.rules = rules
        self.raise_redirects = raise_redirects
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        """Pools of checked connections only."""
        super().init_poolmanager(connections, maxsize, block, ssl_context=tls_context(self.rules.ca_file), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": CheckedHTTPPool, "https": CheckedHTTPSPool}

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Leaves the authorities to the TLS context: requests would read its own bundle each time."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Sends within the deadline (`timeout`, in all). stream, verify, cert and proxies are not heeded."""
        with host_call(self.rules.check_url(request.url or "").host):  # before the clock of the call starts
            response = self._send(request, sum(timeout) if isinstance(timeout, tuple) else timeout)
        if self.raise_redirects and 300 <= response.status_code < 400:
            raise OutboundError(Code.REDIRECT, status=response.status_code)
        return response

    def _send(self, request: requests.PreparedRequest, seconds: float | None) -> requests.Response:
        call = self.rules.call(request.url or "", seconds)
        request.url = call.target.url
        token = CURRENT_CALL.set(call)
        try:
            with external_wait(), mapped_failures(call):
                response = super().send(request, stream=True, timeout=call.deadline.remaining())
                _read_body(response, _max_bytes.get() or self.rules.max_bytes, truncate=self.rules.truncate)
        finally:
            CURRENT_CALL.reset(token)
        return response

    def open(self, request: requests.PreparedRequest, call: Call) -> Answer:
        """Sends; the body stays unread until the caller reads it, under the same call."""
        token = CURRENT_CALL.set(call)
        try:
            with external_wait(), mapped_failures(call):
                return Answer(super().send(request, stream=True, timeout=call.deadline.remaining()), call)
        finally:
            CURRENT_CALL.reset(token)


class OutboundSession(requests.Session):
    """A Session that can only go where the rules allow."""

    def __init__(self, rules: Rules, *, is_kept: bool = False) -> None:
        super().__init__()
        self.rules = rules
        self.is_kept = is_kept
        self.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
        guard(self, rules)

    def check(self, url: str) -> Target:
        """Judges the URL and every address of its host now, without connecting."""
        call = self.rules.call(url)
        with external_wait(), mapped_failures(call):
            call.addresses()
        return call.target

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """As requests, with `timeout` as the deadline of the whole and `max_bytes` for this call alone."""
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
    ) -> Answer:
        """Sends a request whose answer is read as it comes; the URL's path goes out as it is spelled.

        Connections are kept alive; several threads may call this at once. The seconds are in place of the rules'.
        """
        call = self.rules.call(url, seconds, idle_seconds)
        prepared = self.prepare_request(
            requests.Request(method, call.target.url, headers=dict(headers or {}), data=data)
        )
        prepared.url = call.target.url
        adapter = self.get_adapter(call.target.url)
        assert isinstance(adapter, OutboundAdapter)  # noqa: S101 - guard() mounts no other
        return adapter.open(prepared, call)

    def __exit__(self, *exc: object) -> None:
        """Close it, unless it is kept for others."""
        if not self.is_kept:
            self.close()

    def get_redirect_target(self, resp: requests.Response) -> None:
        """No redirect is followed; whoever wants to reads Location and asks again, checked anew."""


def guard(session: AnySession, rules: Rules, *, raise_redirects: bool = False) -> AnySession:
    """Puts a Session, Authlib's say, under the outbound policy; with `raise_redirects` a 3xx is an OutboundError."""
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.adapters.clear()
    adapter = OutboundAdapter(rules, raise_redirects=raise_redirects)
    for prefix in ("http://", "https://"):
        session.mount(prefix, adapter)
    return session


def configured_rules(**changes: Any) -> Rules:
    """The rules with the operator's settings; `changes` are fields of Rules."""
    policy = _policy(_setting("OUTBOUND_ALLOWED_NETWORKS"), _setting("OUTBOUND_ALLOWED_PORTS"))
    ca_file = getattr(settings, "OUTBOUND_CA_FILE", None)
    return Rules(**{"policy": policy, "ca_file": str(ca_file) if ca_file else None, **changes})


def outbound_session(**changes: Any) -> OutboundSession:
    """An OutboundSession under the operator's settings; `changes` are fields of Rules. Use it in a `with`."""
    rules, kept = configured_rules(**changes), _kept.get()
    if kept is None:
        return OutboundSession(rules)
    if rules not in kept:
        kept[rules] = OutboundSession(rules, is_kept=True)
    return kept[rules]


@contextmanager
def reuse_sessions() -> Iterator[None]:
    """Until the end of the block this thread's sessions of the same rules are one, and so are its connections.

    Every request is judged anew; a connection that is used again leads to the address that was judged when it was made.
    """
    if _kept.get() is not None:
        yield
        return
    token = _kept.set({})
    try:
        yield
    finally:
        for session in (_kept.get() or {}).values():
            session.close()
        _kept.reset(token)


@cache
def _policy(networks: tuple[str, ...], ports: tuple[str, ...]) -> Policy:
    return Policy.parse(networks, ports)


def _setting(name: str) -> tuple[str, ...]:
    value: str | Iterable[str] | None = getattr(settings, name, None)
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(part for part in parts if str(part).strip())


def _read_body(response: requests.Response, max_bytes: int, *, truncate: bool) -> None:
    body = bytearray()
    for chunk in response.iter_content(CHUNK_BYTES):
        body += chunk
        if len(body) > max_bytes:
            response.close()
            if not truncate:
                raise OutboundError(Code.UNEXPECTED_RESPONSE, "The answer is too long.")
            break
    # The two fields by which requests remembers a body that was read.
    vars(response).update(_content=bytes(body[:max_bytes]), _content_consumed=True)
