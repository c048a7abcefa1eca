"""Requests to one CardDAV server: the login, redirects, and waiting where the server is busy."""

import datetime as dt
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from carddav.client.errors import (
    LONGEST_WAIT_SECONDS,
    AccessDeniedError,
    BusyError,
    ConnectionBrokenError,
    ConnectionRejectedError,
    DavError,
    ElsewhereError,
    LoginRefusedError,
    NotCardDavError,
    ServerTimeoutError,
    StatusError,
    from_outbound,
)
from carddav.client.hrefs import linked_url, origin, same_origin_url, server_url_of
from carddav.client.login import Authenticator, Login
from carddav.client.multistatus import Multistatus, error_conditions
from contacts_project.kernel.outbound import (
    Answer,
    OutboundError,
    OutboundSession,
    Schemes,
    outbound_session,
    parse_retry_after,
)
from people.vcard.charsets import allowed_charset

MAX_BODY_BYTES = 64 * 1024 * 1024
ERROR_BYTES = 64 * 1024
CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 10.0, 60.0, 600.0
#: A server that reads thousands of cards for its first listing says nothing until it has.
LISTING_SECONDS = 300.0
MOST_HOPS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_BUSY = {429, 503}
_BUSY_READING = _BUSY | {502, 504}
# The waits before another try, where the server does not say for how long.
_WAITS = (1.0, 2.0, 4.0)
_LONGEST_WAIT_HERE = 10
_WRITES = {"PUT", "DELETE"}
_NOT_IN_HEADERS = re.compile(r"[\x00-\x1f\x7f]")


class DavSession:
    """Speaks WebDAV with one login. Several threads may use it at once; connections are kept alive.

    The login goes to the host of the URL that the user typed, and over https to the hosts of `named`: what discovery
    found, and finds while it is under way (`is_discovering`). `give_up_at` is a point in monotonic time by which a
    request that somebody waits for has to have its answer.
    """

    def __init__(
        self,
        outbound: OutboundSession,
        login: Login,
        named: Iterable[str] = (),
        *,
        sleep: Callable[[float], None] = time.sleep,
        give_up_at: float | None = None,
    ) -> None:
        self.login = login
        self.is_discovering = False
        self._outbound = outbound
        self._sleep = sleep
        self._give_up_at = give_up_at
        self._read_seconds: float | None = None
        self._auth = Authenticator(login)
        self._trusted = {origin(server_url_of(login.url))}
        for url in named:
            self.trust(url)

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Within the block the server may be silent for so long before and in an answer."""
        self._read_seconds = seconds
        try:
            yield
        finally:
            self._read_seconds = None

    def trust(self, url: str) -> None:
        """Discovery named this URL: its host gets the login, too, if it is spoken to over https."""
        if url.startswith("https://"):
            self._trusted.add(origin(url))

    def linked(self, base_url: str, href: str) -> str:
        """Where an href of a principal, a home or a redirect leads, as far as the login may follow.

        Another host or port in plain http is an address of the inside that leaked, behind a proxy say: its path counts,
        on the host that is spoken to. Raises NotCardDavError for what is no URL.
        """
        url = linked_url(base_url, href)
        is_elsewhere = origin(url) != origin(base_url)
        return same_origin_url(base_url, url) if is_elsewhere and url.startswith("http://") else url

    def send(
        self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> "tuple[Answer, int]":
        """The answer behind all redirects, its body unread, and how many times the request was sent there."""
        for _ in range(MOST_HOPS + 1):
            answer, tries = self._send_with_retries(method, url, body, headers or {})
            location = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not location:
                return answer, tries
            answer.close()
            url = self._follow(url, location, answer.status)
        raise NotCardDavError("The server sends requests round in circles.")

    @contextmanager
    def answer(
        self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Iterator[Answer]:
        """As `send`, in a `with` that closes the answer and turns what breaks while reading it into a DavError."""
        answer, _ = self.send(method, url, body=body, headers=headers)
        with answer, _dav_errors():
            yield answer

    @contextmanager
    def multistatus(self, method: str, url: str, body: str, depth: str) -> "Iterator[tuple[str, Multistatus]]":
        """Ask for a 207 and read it as it comes, with the URL that gave it.

        Raises AccessDeniedError for 403, StatusError for any other status, NotCardDavError for a page of HTML.
        """
        headers = {"Content-Type": "application/xml; charset=utf-8", "Depth": depth}
        with self.answer(method, url, body=body.encode(), headers=headers) as answer:
            if answer.status != 207:
                refuse(answer)
            if is_html(answer):
                raise NotCardDavError("The server answers with a page for a browser, not as a CardDAV server.")
            yield answer.url, Multistatus(answer.chunks(MAX_BODY_BYTES), charset_of(answer))

    def _send_with_retries(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[Answer, int]:
        """Wait and ask again where the server is busy; a read that broke off is asked once more, too."""
        busy = _BUSY if method in _WRITES else _BUSY_READING
        broke_off = method in _WRITES
        tries = 0
        while True:
            tries += 1
            try:
                answer = self._authorized(method, url, body, headers)
            except ConnectionBrokenError:
                if broke_off:
                    raise
                broke_off = True
                continue
            if answer.status not in busy:
                return answer, tries
            self._wait(answer, tries)

    def _wait(self, answer: Answer, tries: int) -> None:
        asked = parse_retry_after(answer.headers.get("Retry-After"), dt.datetime.now(dt.UTC))
        answer.close()
        seconds = asked if asked is not None else _WAITS[min(tries, len(_WAITS)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
        out_of_time = self._give_up_at is not None and time.monotonic() + seconds > self._give_up_at
        if tries > len(_WAITS) or seconds > _LONGEST_WAIT_HERE or out_of_time:
            wait = None if asked is None else min(asked, LONGEST_WAIT_SECONDS)
            raise BusyError(status=answer.status, retry_after=wait, has_sent=True)
        self._sleep(seconds)

    def _authorized(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        while True:
            sent = self._auth.header(method, url) if origin(url) in self._trusted else ""
            answer = self._once(method, url, body, {**headers, **({"Authorization": sent} if sent else {})})
            if answer.status != 401:
                return answer
            challenge = answer.headers.get("WWW-Authenticate") or ""
            answer.close()
            if not sent:
                raise ElsewhereError(status=401)
            if not self._auth.take_challenge(sent, challenge):
                raise LoginRefusedError(status=401)

    def _once(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        seconds = None if self._give_up_at is None else self._give_up_at - time.monotonic()
        if seconds is not None and seconds <= 0:
            raise ServerTimeoutError
        sent = {name: _header_value(value) for name, value in headers.items()}
        with _dav_errors():
            return self._outbound.open(
                method,
                url,
                data=body,
                headers={"Accept-Encoding": "gzip", **sent},
                seconds=seconds,
                idle_seconds=self._read_seconds if seconds is None else None,
            )

    def _follow(self, url: str, location: str, status: int) -> str:
        """The URL to go on with: never from https to http, never with the login to a host that nobody named."""
        target = self.linked(url, location)
        here, there = origin(url), origin(target)
        if here == there or there == ("https", here[1], 443):
            self.trust(target)
            return target
        if self.is_discovering:
            self.trust(target)
            return self._reachable_target(url, target)
        if there in self._trusted:
            return target
        raise ElsewhereError(target, status=status)

    def _reachable_target(self, url: str, target: str) -> str:
        """The target, or its path here where nobody listens at another port of the same host."""
        if origin(url)[1] != origin(target)[1]:
            return target
        try:
            self._once("OPTIONS", target, b"", {}).close()
        except (ConnectionRejectedError, ServerTimeoutError):
            return same_origin_url(url, target)
        return target


@contextmanager
def open_session(
    login: Login,
    named: Iterable[str] = (),
    *,
    seconds: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[DavSession]:
    """A session under the operator's outbound policy; plain http only to the host that the user typed so.

    With `seconds` the whole has to be over by then, for somebody who waits.
    """
    limit = min(READ_SECONDS, seconds or READ_SECONDS)
    with outbound_session(
        schemes=Schemes.HTTP_OR_HTTPS,
        seconds=WHOLE_SECONDS if seconds is None else seconds,
        connect_seconds=min(CONNECT_SECONDS, limit),
        idle_seconds=limit,
    ) as outbound:
        give_up_at = None if seconds is None else time.monotonic() + seconds
        yield DavSession(outbound, login, named, sleep=sleep, give_up_at=give_up_at)


def refuse(answer: Answer) -> NoReturn:
    """Raise what an answer means that should have been another."""
    conditions = conditions_of(answer)
    if answer.status == 403 and conditions <= {"need-privileges"}:
        raise AccessDeniedError(status=403)
    raise StatusError(answer.status, conditions)


def conditions_of(answer: Answer) -> frozenset[str]:
    """The names in the DAV:error of an answer that is none of success."""
    if answer.status < 300 or is_html(answer):
        return frozenset()
    try:
        return error_conditions(answer.read(ERROR_BYTES))
    except OutboundError:  # the status says enough
        return frozenset()


def is_html(answer: Answer) -> bool:
    """Whether it is a page for a browser, such as a form to sign in."""
    return _media_type(answer) == "text/html"


def charset_of(answer: Answer) -> str | None:
    """The charset of Content-Type, if it names one that cards are written in."""
    for part in (answer.headers.get("Content-Type") or "").split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.lower() == "charset":
            return allowed_charset(value.strip("\"' "))
    return None


def _header_value(value: str) -> str:
    """What a header can hold of an etag or a login: no line break, and other alphabets as the bytes of UTF-8."""
    text = _NOT_IN_HEADERS.sub("", value).strip()
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode().decode("latin-1")
    return text


def _media_type(answer: Answer) -> str:
    return (answer.headers.get("Content-Type") or "").partition(";")[0].strip().lower()


@contextmanager
def _dav_errors() -> Iterator[None]:
    try:
        yield
    except OutboundError as error:
        raise from_outbound(error) from error


__all__ = ["DavError", "DavSession", "Login", "open_session"]
