"""E-mail through the instance's mail server (EMAIL_URL): text and HTML, with a way out that works in one click."""

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from email.policy import Compat32
from email.utils import parseaddr
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.message import SafeMIMEMultipart, SafeMIMEText
from django.template.loader import render_to_string
from django.utils import translation
from urllib3.util.wait import wait_for_read

from accounts.models import User
from contacts_project.kernel.outbound import Code, OutboundError
from contacts_project.kernel.outbound.failures import classify
from notifications.channels.interface import REMINDERS, Channel, Target
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from notifications.notices.wording import wording_of

EMAIL_KEY = "email"
# The connection to the mail server that this thread keeps: one of Django's backends.
_kept: ContextVar[Any] = ContextVar("mail_connection", default=None)


class _LongLines(Compat32):
    """Compat32 with lines of 998 characters; a header that fits stays as it is, without being taken apart first."""

    def fold_binary(self, name: str, value: Any) -> bytes:
        fits = isinstance(value, str) and value.isascii() and value.isprintable() and len(name) + len(value) < 990
        return f"{name}: {value}{self.linesep}".encode() if fits else super().fold_binary(name, value)


_POLICY = _LongLines(max_line_length=998)


class _Message(EmailMultiAlternatives):
    """Headers stay on their lines: programs that read List-Unsubscribe are not always ready for a folded link."""

    def message(self) -> SafeMIMEText | SafeMIMEMultipart:
        """The message with lines as long as RFC 5322 lets them be."""
        message: SafeMIMEText | SafeMIMEMultipart = super().message()
        message.policy = _POLICY
        if message.is_multipart():
            # Left to itself the generator looks for a boundary that no line is, with a new pattern for each mail.
            message.set_boundary(f"=={uuid4().hex}==")
        return message


class EmailChannel(Channel):
    """Writes to the address that the account has proven, or to the one it claims while it has proven none."""

    name = "email"
    records_outcomes = False
    kinds = REMINDERS | {NoticeKind.DIGEST}

    def targets(self, owner: User) -> list[Target]:
        """The account's one address."""
        return [Target(self.name, EMAIL_KEY, owner.recovery_email, off=_why_off(owner))]

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Hand the message to the mail server."""
        message = message_of(notice)
        try:
            message.connection = _kept_connection()
            message.send()
        except (smtplib.SMTPException, OSError) as error:
            raise OutboundError(_code(error), "The mail server did not take the message.") from error

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """The mails of the block go over one connection, made with the first."""
        connection = get_connection()
        token = _kept.set(connection)
        try:
            yield
        finally:
            _kept.reset(token)
            with suppress(smtplib.SMTPException, OSError):
                connection.close()


def _kept_connection() -> Any:
    """The connection that is kept, open; a server may have hung up meanwhile. None: each mail makes its own."""
    kept = _kept.get()
    if kept is None:
        return None
    smtp = getattr(kept, "connection", None)
    # Between two mails a server says nothing, unless that it hangs up.
    if smtp and (smtp.sock is None or wait_for_read(smtp.sock, timeout=0)):
        smtp.close()
        kept.connection = None
    kept.open()
    return kept


def message_of(notice: Notice) -> EmailMultiAlternatives:
    """The message, complete with the headers of RFC 2369 and RFC 8058."""
    owner = notice.owner
    subject = Subject.DIGEST if notice.kind is NoticeKind.DIGEST else Subject.REMINDERS
    wording = wording_of(notice)
    link = unsubscribe_url(owner, subject)
    with translation.override(owner.language):
        context = {"wording": wording, "unsubscribe_url": link, "language": owner.language, "subject": subject.value}
        text = render_to_string("email/notice.txt", context)
        html = render_to_string("email/notice.html", context)
    headers = {
        # The same at every try, so that a mailbox may see a doubled one for what it is.
        "Message-ID": f"<{notice.id}@{_domain()}>",
        "List-Unsubscribe": f"<{link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    message = _Message(wording.title, text, None, [owner.recovery_email], headers=headers)
    message.attach_alternative(html, "text/html")
    return message


def _domain() -> str:
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"


def _why_off(owner: User) -> str | None:
    if settings.EMAIL_VERIFICATION == "mandatory" and owner.proven_email is None:
        return "email_unverified"
    return None if owner.email_reminders_enabled else "email_disabled"


def _code(error: Exception) -> Code:
    if isinstance(error, socket.gaierror):
        return Code.DNS
    if isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused):
        return Code.UNEXPECTED_RESPONSE
    return classify(error)
