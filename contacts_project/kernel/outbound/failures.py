"""Errors of outbound requests: one exception class with a code."""

import http.client
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

import requests
import urllib3.exceptions

from contacts_project.kernel.outbound.policy import Reason
from contacts_project.kernel.texts import Text

# About 31 years: added to the current time it cannot exceed the range of datetime.
MAX_RETRY_AFTER_SECONDS = 999_999_999


class Code(StrEnum):
    """The error codes of the API for failed outbound requests."""

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
    """A request that did not succeed. Not an OSError: urllib3 and requests would wrap that and hide the code.

    `status` is the status of the response if there was one, `retry_after` the seconds of its Retry-After,
    `reason` why the policy blocked the request, `has_sent` whether the server may have received a part of it.
    The message never contains text of the destination.
    """

    def __init__(
        self,
        code: Code,
        message: Text | str = "",
        *,
        status: int | None = None,
        retry_after: int | None = None,
        reason: Reason | None = None,
        has_sent: bool = False,
    ) -> None:
        super().__init__(message or code.value)
        self.text = message if isinstance(message, Text) else Text(code.value, message or code.value)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.reason = reason
        self.has_sent = has_sent


class TooLongError(OutboundError):
    """The body of the response is longer than the reader allows; the request was sent."""

    def __init__(self) -> None:
        super().__init__(Code.UNEXPECTED_RESPONSE, "The answer is too long.", has_sent=True)


def check_status(response: requests.Response, now: datetime | None = None) -> None:
    """Raises OutboundError unless the status is 2xx, with the code of the status and the seconds of Retry-After."""
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
    """Return the seconds to wait, at most MAX_RETRY_AFTER_SECONDS, from either form of RFC 9110, section 10.2.3.

    None if the header is absent or malformed.
    """
    if not value:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return int(text[:9])  # nine digits are at most MAX_RETRY_AFTER_SECONDS
    try:
        when = parsedate_to_datetime(text)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return min(max(0, round((when - now).total_seconds())), MAX_RETRY_AFTER_SECONDS)
    except (ValueError, OverflowError):
        return None


def classify(error: BaseException) -> Code:
    """Return the code for an error of requests, urllib3 or a socket, from its whole chain of causes."""
    chain = list(_iter_chain(error))
    for types, code in _CODE_BY_TYPES:
        if any(isinstance(link, types) for link in chain):
            return code
    return Code.UNKNOWN


# The first match wins, so the order matters: RemoteDisconnected is both a ConnectionResetError and an HTTPException.
_CODE_BY_TYPES: tuple[tuple[tuple[type[BaseException], ...], Code], ...] = (
    ((TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError), Code.TIMEOUT),
    ((ssl.SSLError, requests.exceptions.SSLError, urllib3.exceptions.SSLError), Code.TLS),
    ((ConnectionRefusedError,), Code.REFUSED),
    ((ConnectionResetError, BrokenPipeError), Code.UNKNOWN),
    ((http.client.HTTPException, urllib3.exceptions.HTTPError), Code.UNEXPECTED_RESPONSE),
)


def _iter_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, its causes and contexts, and those that urllib3 and requests keep in `args` or `reason`."""
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
