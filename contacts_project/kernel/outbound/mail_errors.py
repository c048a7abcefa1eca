"""Why the instance's mail server did not take a mail, for the log."""

import re
import smtplib
from base64 import b64encode
from typing import Final

from django.conf import settings

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
