"""HTTP requests to one WebDAV server: login, redirects, and retries while the server is busy."""

import datetime as dt
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn
from uuid import UUID

from contacts_project.kernel.charsets import allowed_charset
from contacts_project.kernel.outbound.exchanges import AccountBusyError, ExchangeRules
from contacts_project.kernel.outbound.failures import OutboundError, parse_retry_after
from contacts_project.kernel.outbound.policy import Schemes
from contacts_project.kernel.outbound.session import OutboundResponse, OutboundSession, outbound_session
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import (
    MAX_RETRY_AFTER_SECONDS,
    AccessDeniedError,
    ConnectionBrokenError,
    ConnectionRejectedError,
    LoginRefusedError,
    NotDavError,
    OverdueError,
    PolicyError,
    RedirectLoopError,
    ServerBusyError,
    ServerTimeoutError,
    StatusError,
    UntrustedHostError,
    convert_outbound_error,
)
from contacts_project.kernel.webdav.hrefs import normalize_server_url, origin, resolve_url, same_origin_url
from contacts_project.kernel.webdav.login import Authenticator, Login
from contacts_project.kernel.webdav.multistatus import Multistatus, error_conditions

HTML_PAGE = define_text("html_page", "The server answers with a page for a browser, not as a WebDAV server.")

MAX_BODY_BYTES = 64 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
CONNECT_SECONDS, READ_SECONDS, TOTAL_SECONDS = 10.0, 60.0, 600.0
#: Radicale reads every resource before the first byte of a full listing.
LISTING_SECONDS = 300.0
#: How long a request waits until fewer than two others of its account are under way.
MAX_TURN_WAIT_SECONDS = 60.0
MAX_REDIRECTS = 5
_REDIRECT_STATUSES = {301, 302, 303, 307, 308}
_BUSY_STATUSES = {429, 503}
_BUSY_READ_STATUSES = _BUSY_STATUSES | {502, 504}
# Delays in seconds before the next try, if the server sends no Retry-After.
_RETRY_DELAYS = (1.0, 2.0, 4.0)
_MAX_INLINE_WAIT_SECONDS = 10
_WRITE_METHODS = {"PUT", "DELETE"}
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")


class DavSession:
    """A WebDAV session with one login. Thread-safe; connections are kept alive.

    The login is sent to the host of the URL that the user has entered, and over https to the hosts of `trusted_urls`,
    which discovery has found, and to those it finds while `is_discovering`: in principals, home sets and redirects. If
    the `login_stays`, it is sent to the first of these alone. `give_up_at` is the deadline of all requests together, in
    monotonic time.
    """

    def __init__(
        self,
        outbound: OutboundSession,
        login: Login,
        trusted_urls: Iterable[str] = (),
        *,
        sleep: Callable[[float], None] = time.sleep,
        give_up_at: float | None = None,
        login_stays: bool = False,
    ) -> None:
        self.login = login
        self._login_stays = login_stays
        self.is_discovering = False
        # The first address that discovery was led to and that the policy refuses, though it was not called.
        self.refused: PolicyError | None = None
        self._outbound = outbound
        self._sleep = sleep
        self._give_up_at = give_up_at
        self._read_seconds: float | None = None
        self._auth = Authenticator(login)
        self._trusted = {origin(normalize_server_url(login.url))}
        for url in trusted_urls:
            self.trust(url)

    @contextmanager
    def idle_timeout(self, seconds: float) -> Iterator[None]:
        """Within the block the server may be silent for `seconds` before and during a response."""
        self._read_seconds = seconds
        try:
            yield
        finally:
            self._read_seconds = None

    def trust(self, url: str, named_by: str | None = None) -> None:
        """Add the host of a URL that discovery has found to those that get the login, if it is https, and `named_by` a
        URL that gets it, too."""
        is_named = named_by is None or origin(named_by) in self._trusted
        if url.startswith("https://") and is_named and not self._login_stays:
            self._trusted.add(origin(url))

    def resolve_href(self, base_url: str, href: str) -> str:
        """The URL of a principal's, home set's or collection's href. Where the `login_stays` and the href is of another
        host, its path on the host of `base_url`. Raises NotDavError for an invalid URL.
        """
        url = self._resolve(base_url, href)
        if not self._login_stays or origin(base_url) not in self._trusted or origin(url) == origin(base_url):
            return url
        return self._at_home(base_url, url)

    def _resolve(self, base_url: str, href: str) -> str:
        """The URL of an href or redirect.

        An http URL on another host or port is an internal address that leaked through a proxy: its path is used on the
        host of `base_url`. Raises NotDavError for an invalid URL.
        """
        url = resolve_url(base_url, href)
        if origin(url) == origin(base_url) or not url.startswith("http://"):
            return url
        return self._at_home(base_url, url)

    def _at_home(self, base_url: str, url: str) -> str:
        """The path of the URL on the host of `base_url`."""
        if self.is_discovering and self.refused is None:
            self._note_refusal(url)
        return same_origin_url(base_url, url)

    def _note_refusal(self, url: str) -> None:
        """Remember it if the policy refuses the URL: if nothing is found, that is the reason to give."""
        try:
            self._outbound.check(url)
        except OutboundError as error:
            refused = convert_outbound_error(error)
            self.refused = refused if isinstance(refused, PolicyError) else None

    def send(
        self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> "tuple[OutboundResponse, int]":
        """The response after redirects, with its body unread, and how often the last request was sent."""
        for _ in range(MAX_REDIRECTS + 1):
            response, tries = self._send_with_retries(method, url, body, headers or {})
            location = response.headers.get("Location")
            if response.status not in _REDIRECT_STATUSES or not location:
                return response, tries
            # Method, body, Depth and conditions stay the same: HTTP libraries drop them after 301 and 302.
            response.close()
            url = self._redirect_target(url, location, response.status)
        raise RedirectLoopError

    @contextmanager
    def response(
        self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Iterator[OutboundResponse]:
        """`send` as a context manager: closes the response and converts read errors to DavError."""
        response, _ = self.send(method, url, body=body, headers=headers)
        with response, _convert_errors():
            yield response

    @contextmanager
    def multistatus(self, method: str, url: str, body: str, depth: str) -> "Iterator[tuple[str, Multistatus]]":
        """Request a 207 and parse it as a stream; yields the URL that sent it and the responses.

        Raises AccessDeniedError for 403, StatusError for any other status, NotDavError for HTML.
        """
        headers = {"Content-Type": "application/xml; charset=utf-8", "Depth": depth}
        with self.response(method, url, body=body.encode(), headers=headers) as response:
            if response.status != 207:
                raise_for_status(response)
            if is_html(response):
                raise NotDavError(HTML_PAGE)
            yield response.url, Multistatus(response.chunks(MAX_BODY_BYTES), parse_charset(response))

    def _send_with_retries(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[OutboundResponse, int]:
        """Retry while the server is busy; repeat a read once if the connection broke."""
        busy = _BUSY_STATUSES if method in _WRITE_METHODS else _BUSY_READ_STATUSES
        # A write must not be repeated blindly: the server may have applied it.
        may_resend = method not in _WRITE_METHODS
        tries = 0
        while True:
            tries += 1
            try:
                response = self._send_authorized(method, url, body, headers)
            except ConnectionBrokenError:
                if not may_resend:
                    raise
                may_resend = False
                continue
            if response.status not in busy:
                return response, tries
            self._wait_before_retry(response, tries)

    def _wait_before_retry(self, response: OutboundResponse, tries: int) -> None:
        asked = parse_retry_after(response.headers.get("Retry-After"), dt.datetime.now(dt.UTC))
        response.close()
        if asked is None:
            # Jitter, so that clients that were refused together do not come back together.
            seconds = _RETRY_DELAYS[min(tries, len(_RETRY_DELAYS)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
        else:
            seconds = asked
        out_of_time = self._give_up_at is not None and time.monotonic() + seconds > self._give_up_at
        if tries > len(_RETRY_DELAYS) or seconds > _MAX_INLINE_WAIT_SECONDS or out_of_time:
            wait = None if asked is None else min(asked, MAX_RETRY_AFTER_SECONDS)
            raise ServerBusyError(status=response.status, retry_after=wait, has_sent=True)
        self._sleep(seconds)

    def _send_authorized(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> OutboundResponse:
        while True:
            sent = self._auth.header(method, url) if origin(url) in self._trusted else ""
            response = self._send_once(method, url, body, {**headers, **({"Authorization": sent} if sent else {})})
            if response.status != 401:
                return response
            challenge = response.headers.get("WWW-Authenticate") or ""
            response.close()
            if not sent:
                # Not LoginRefusedError, which would pause the connection: no login was sent.
                raise UntrustedHostError(status=401)
            if not self._auth.accept_challenge(sent, challenge):
                raise LoginRefusedError(status=401)

    def _send_once(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> OutboundResponse:
        seconds = TOTAL_SECONDS if self._give_up_at is None else self._give_up_at - time.monotonic()
        if seconds <= 0:
            raise OverdueError
        sent = {name: _header_value(value) for name, value in headers.items()}
        with _convert_errors():
            return self._outbound.open(
                method,
                url,
                data=body,
                headers={"Accept-Encoding": "gzip", **sent},
                seconds=min(seconds, TOTAL_SECONDS),
                idle_seconds=self._read_seconds,
            )

    def _redirect_target(self, url: str, location: str, status: int) -> str:
        """The URL to follow: never from https to http, and only to hosts that may get the login."""
        target = self._resolve(url, location)
        here, there = origin(url), origin(target)
        # From http to the standard https port of the same host is an upgrade, which gets the login if the host had it:
        # whoever was led to may not lead on to it.
        if here == there or there == ("https", here[1], 443):
            if here in self._trusted and (here[0] == "http" or not self._login_stays):
                self._trusted.add(there)
            return target
        if self.is_discovering:
            self.trust(target)
            return self._reachable_target(url, target)
        if there in self._trusted:
            return target
        raise UntrustedHostError(target, status=status)

    def _reachable_target(self, url: str, target: str) -> str:
        """The target; if it is another port of the same host where nobody listens, its path on the current port."""
        if origin(url)[1] != origin(target)[1]:
            return target
        try:
            # Without the login: this only tests whether the port is open.
            self._send_once("OPTIONS", target, b"", {}).close()
        except (ConnectionRejectedError, ServerTimeoutError):
            return same_origin_url(url, target)
        return target


@contextmanager
def open_session(
    login: Login,
    trusted_urls: Iterable[str] = (),
    *,
    seconds: float | None = None,
    give_up_at: float | None = None,
    account: UUID | None = None,
    sleep: Callable[[float], None] = time.sleep,
    login_stays: bool = False,
) -> Iterator[DavSession]:
    """A session under the operator's outbound policy; plain http is only used if the user has entered it.

    `seconds` limits the whole session, for a caller who waits; `give_up_at` is a deadline in monotonic time. Requests
    count as exchanges of `account`.
    """
    limit = min(READ_SECONDS, seconds or READ_SECONDS)
    with outbound_session(
        schemes=Schemes.HTTP_OR_HTTPS,
        seconds=TOTAL_SECONDS if seconds is None else seconds,
        connect_seconds=min(CONNECT_SECONDS, limit),
        idle_seconds=limit,
        exchanges=None if account is None else ExchangeRules(account, min(MAX_TURN_WAIT_SECONDS, limit)),
    ) as outbound:
        if seconds is not None:
            give_up_at = time.monotonic() + seconds
        yield DavSession(outbound, login, trusted_urls, sleep=sleep, give_up_at=give_up_at, login_stays=login_stays)


def raise_for_status(response: OutboundResponse) -> NoReturn:
    """Raise the error for an unexpected status."""
    conditions = read_error_conditions(response)
    # A 403 with another condition concerns the request, such as an expired sync token.
    if response.status == 403 and conditions <= {"need-privileges"}:
        raise AccessDeniedError(status=403)
    raise StatusError(response.status, conditions)


def read_error_conditions(response: OutboundResponse) -> frozenset[str]:
    """The names in the DAV:error of an unsuccessful response."""
    if response.status < 300 or is_html(response):
        return frozenset()
    try:
        return error_conditions(response.read(MAX_ERROR_BYTES))
    except OutboundError:  # the status alone is enough
        return frozenset()


def is_html(response: OutboundResponse) -> bool:
    """Whether it is an HTML page, such as a login form."""
    return (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower() == "text/html"


def parse_charset(response: OutboundResponse) -> str | None:
    """The charset of Content-Type, if it is one in which text is written."""
    for part in (response.headers.get("Content-Type") or "").split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.lower() == "charset":
            return allowed_charset(value.strip("\"' "))
    return None


def _header_value(value: str) -> str:
    """An ETag or login as a header value: without control characters, and non-Latin text as UTF-8 bytes."""
    text = _CONTROL_CHARACTERS.sub("", value).strip()
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode().decode("latin-1")
    return text


@contextmanager
def _convert_errors() -> Iterator[None]:
    try:
        yield
    except OutboundError as error:
        raise convert_outbound_error(error) from error
    except AccountBusyError as error:
        raise ServerBusyError(error.message) from error
