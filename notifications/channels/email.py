"""E-mail through the instance's mail server (EMAIL_URL): text and HTML, with one-click unsubscription (RFC 8058)."""

import logging
import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from email.policy import Compat32
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.message import SafeMIMEMultipart, SafeMIMEText
from django.template.loader import render_to_string
from django.utils import translation
from urllib3.util.wait import wait_for_read

from accounts.models import User
from contacts_project.kernel.outbound.failures import Code, OutboundError, classify, describe_mail_error
from contacts_project.kernel.text_forms import mail_address
from notifications.channels.interface import REMINDERS, Channel, ChannelTarget
from notifications.notices.notice import Notice, NoticeKind, format_message_id
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from notifications.notices.wording import wording_of

log = logging.getLogger(__name__)

EMAIL_KEY = "email"
# The connection that this thread's mails share inside `reuse_connections`: one of Django's e-mail backends.
_shared_connection: ContextVar[Any] = ContextVar("mail_connection", default=None)


class _UnfoldedHeadersPolicy(Compat32):
    """Compat32 that does not parse and fold a header that fits into one line of 998 characters."""

    def fold_binary(self, name: str, value: str) -> bytes:
        fits = isinstance(value, str) and value.isascii() and value.isprintable() and len(name) + len(value) < 990
        return f"{name}: {value}{self.linesep}".encode() if fits else super().fold_binary(name, value)


_POLICY = _UnfoldedHeadersPolicy(max_line_length=998)


class _UnfoldedMessage(EmailMultiAlternatives):
    """A message without folded headers: some programs do not understand a folded link in List-Unsubscribe."""

    def message(self) -> SafeMIMEText | SafeMIMEMultipart:
        """The message with lines as long as RFC 5322 allows (998 characters)."""
        message: SafeMIMEText | SafeMIMEMultipart = super().message()
        message.policy = _POLICY
        if message.is_multipart():
            # Without one, the generator searches for a boundary that no line contains, compiling a pattern per mail.
            message.set_boundary(f"=={uuid4().hex}==")
        return message


class EmailChannel(Channel):
    """Sends to the account's verified address, or to the claimed one while none is verified."""

    name = "email"
    records_outcomes = False
    has_own_server = True
    kinds = REMINDERS | {NoticeKind.DIGEST}

    def targets(self, owner: User) -> list[ChannelTarget]:
        """The account's address: one target."""
        off_reason = None if owner.email_reminders_enabled else "email_disabled"
        if settings.EMAIL_VERIFICATION == "mandatory" and owner.proven_email is None:
            off_reason = "email_unverified"
        return [ChannelTarget(self.name, EMAIL_KEY, owner.recovery_email, off_reason=off_reason)]

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Send the message to the mail server. Raises OutboundError if the server does not accept it."""
        message = message_of(notice)
        try:
            message.connection = _open_shared_connection()
            message.send()
        except (smtplib.SMTPException, OSError) as error:
            # The error code of the delivery does not tell a wrong password from a refused recipient.
            log.warning("A mail could not be sent: %s", describe_mail_error(error), extra={"notice": str(notice.id)})
            raise OutboundError(_failure_code(error), "The mail server did not take the message.") from error

    @contextmanager
    def reuse_connections(self) -> Iterator[None]:
        """Send the mails of the block over one connection, opened with the first mail."""
        connection = get_connection()
        token = _shared_connection.set(connection)
        try:
            yield
        finally:
            _shared_connection.reset(token)
            with suppress(smtplib.SMTPException, OSError):
                connection.close()


def _open_shared_connection() -> Any:
    """The shared connection, reopened if the server has closed it; None outside `reuse_connections`."""
    shared = _shared_connection.get()
    if shared is None:
        return None
    smtp = getattr(shared, "connection", None)
    # Between two mails a server sends nothing, except a notice that it closes the connection: readable means closed.
    if smtp and (smtp.sock is None or wait_for_read(smtp.sock, timeout=0)):
        smtp.close()
        shared.connection = None
    shared.open()
    return shared


def message_of(notice: Notice) -> EmailMultiAlternatives:
    """The message, with the List-* headers of RFC 2369 and RFC 8058."""
    owner = notice.owner
    subject = Subject.DIGEST if notice.kind is NoticeKind.DIGEST else Subject.REMINDERS
    wording = wording_of(notice)
    link = unsubscribe_url(owner, subject)
    with translation.override(owner.language):
        context = {"wording": wording, "unsubscribe_url": link, "language": owner.language, "subject": subject.value}
        text = render_to_string("email/notice.txt", context)
        html = render_to_string("email/notice.html", context)
    headers = {
        "Message-ID": format_message_id(notice.id),
        "List-Unsubscribe": f"<{link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    message = _UnfoldedMessage(wording.title, text, None, [mail_address(owner.recovery_email)], headers=headers)
    message.attach_alternative(html, "text/html")
    return message


def _failure_code(error: Exception) -> Code:
    if isinstance(error, socket.gaierror):
        return Code.DNS
    if isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused):
        return Code.UNEXPECTED_RESPONSE
    return classify(error)
