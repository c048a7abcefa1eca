"""What can go wrong on the way out, in one exception with one code."""

import http.client
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

import requests
import urllib3.exceptions

from contacts_project.kernel.outbound.policy import Reason

# Whoever adds it to a moment stays within the calendar.
LONGEST_WAIT_SECONDS = 999_999_999


class Code(StrEnum):
    """The reasons the contract names (specification, POST .../test)."""

    BLOCKED = "blocked"
    DNS = "dns"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    TLS = "tls"
    REDIRECT = "redirect"
    HTTP_4XX = "http_4xx"
    HTTP_429 = "http_429"
    HTTP_5XX = "http_5xx"
    UNEXPECTED_RESPONSE = "unexpected_response"
    UNKNOWN = "unknown"


class OutboundError(Exception):
    """A request that did not succeed. No OSError: urllib3 and requests would wrap it and hide the code.

    `status` is the answer's status where there was one, `retry_after` the seconds it asked to wait,
    `reason` why the policy refused, `has_sent` whether the server may have got some of the request. The text never
    carries anything the destination said.
    """

    def __init__(
        self,
        code: Code,
        message: str = "",
        *,
        status: int | None = None,
        retry_after: int | None = None,
        reason: Reason | None = None,
        has_sent: bool = False,
    ) -> None:
        super().__init__(message or code.value)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.reason = reason
        self.has_sent = has_sent


class TooLongError(OutboundError):
    """An answer with a body beyond what its reader takes; the request was sent."""

    def __init__(self) -> None:
        super().__init__(Code.UNEXPECTED_RESPONSE, "The answer is too long.", has_sent=True)


def check_status(response: requests.Response, now: datetime | None = None) -> None:
    """2xx passes; anything else raises with the code of its class and the Retry-After it carries."""
    status = response.status_code
    if 200 <= status < 300:
        return
    raise OutboundError(
        _status_code(status),
        f"The destination answered with status {status}.",
        status=status,
        retry_after=parse_retry_after(response.headers.get("Retry-After"), now or datetime.now(UTC)),
    )


def parse_retry_after(value: str | None, now: datetime) -> int | None:
    """Seconds to wait, at most some thirty years, from either form of RFC 9110, section 10.2.3; None when absent or
    unreadable.
    """
    if not value:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return int(text[:9])
    try:
        when = parsedate_to_datetime(text)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return min(max(0, round((when - now).total_seconds())), LONGEST_WAIT_SECONDS)
    except (ValueError, OverflowError):
        return None


def classify(error: BaseException) -> Code:
    """The code for what requests, urllib3 or a socket raised, judged by the whole chain of causes."""
    chain = list(_chain(error))
    for kinds, code in _KINDS:
        if any(isinstance(link, kinds) for link in chain):
            return code
    return Code.UNKNOWN


# The first that fits wins: a server that hangs up is BadStatusLine too, a TLS failure an OSError.
_KINDS: tuple[tuple[tuple[type[BaseException], ...], Code], ...] = (
    ((TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError), Code.TIMEOUT),
    ((ssl.SSLError, requests.exceptions.SSLError, urllib3.exceptions.SSLError), Code.TLS),
    ((ConnectionRefusedError,), Code.REFUSED),
    ((ConnectionResetError, BrokenPipeError), Code.UNKNOWN),
    ((http.client.HTTPException, urllib3.exceptions.HTTPError), Code.UNEXPECTED_RESPONSE),
)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, its causes and contexts, and those that urllib3 and requests carry in args or reason."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        link = waiting.pop()
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [link.__cause__, link.__context__, getattr(link, "reason", None), *link.args]


def _status_code(status: int) -> Code:
    if status == 429:
        return Code.HTTP_429
    if 300 <= status < 400:
        return Code.REDIRECT
    if 400 <= status < 500:
        return Code.HTTP_4XX
    return Code.HTTP_5XX if status >= 500 else Code.UNEXPECTED_RESPONSE
