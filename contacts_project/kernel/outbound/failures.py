"""Why an outbound request or a mail failed: one exception class with a code, and a description for the log."""

import http.client
import re
import smtplib
import ssl
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

import requests
import urllib3.exceptions
from django.conf import settings

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


# Replies that come before the server knows recipient and content of the mail, so that they cannot quote them.
_SAFE_REPLIES: Final = (
    smtplib.SMTPConnectError,
    smtplib.SMTPHeloError,
    smtplib.SMTPAuthenticationError,
    smtplib.SMTPSenderRefused,
)
# Of these, smtplib has written the text.
_SAFE_EXCEPTIONS: Final = (smtplib.SMTPServerDisconnected, smtplib.SMTPNotSupportedError)
_ENHANCED_STATUS: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?!\S)")  # RFC 3463, section 2
# Addresses, among them that of the sender, also with a quoted local part; URLs; what may be an encoded secret.
_PRIVATE_WORDS: Final = re.compile(r'\S*"[^"]*"@\S*|\S*(?:@|://)\S*|\S{30,}')
_MAX_LENGTH: Final = 200


def describe_mail_error(error: Exception) -> str:
    """The type of the error, with the server's reply or the reason of the operating system.

    A reply to the recipient or to the content may quote them, so only its status codes are returned.
    """
    detail = ""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        detail = ", ".join(sorted({_status(*reply) for reply in error.recipients.values()}))
    elif isinstance(error, _SAFE_REPLIES):
        detail = f"{error.smtp_code} {_mask(_decode(error.smtp_error))}"
    elif isinstance(error, smtplib.SMTPResponseException):
        detail = _status(error.smtp_code, error.smtp_error)
    elif isinstance(error, _SAFE_EXCEPTIONS):
        detail = _mask(str(error))
    elif isinstance(error, OSError):
        detail = error.strerror or ""
    return f"{type(error).__name__}: {detail}" if detail else type(error).__name__


def _status(code: int, reply: bytes | str) -> str:
    """The status code of a reply, with the enhanced one if the reply begins with one."""
    enhanced = _ENHANCED_STATUS.match(_decode(reply))
    return f"{code} {enhanced[0]}" if enhanced else str(code)


def _decode(reply: bytes | str) -> str:
    return reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply


def _mask(text: str) -> str:
    # Control characters could write to the operator's terminal.
    printable = "".join(character if character.isprintable() else " " for character in text)
    one_line = " ".join(printable.split())
    for secret in _encode_password():
        one_line = one_line.replace(secret, "***")
    return _PRIVATE_WORDS.sub("***", one_line)[:_MAX_LENGTH]


def _encode_password() -> list[str]:
    """The password of the mail server as it was sent to it: some servers repeat a command that they do not accept."""
    user, password = settings.EMAIL_HOST_USER or "", settings.EMAIL_HOST_PASSWORD
    if not password:
        return []
    sent = (f"\0{user}\0{password}", password)  # AUTH PLAIN and AUTH LOGIN
    return [*(b64encode(text.encode()).decode() for text in sent), password]
