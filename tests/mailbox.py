"""An SMTP server on loopback that stores the mails it receives."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from tests.leaks import leak_detector
from tests.loopback import closed_port


@dataclass
class Mailbox:
    """The received mails. If `refuse` is set, an SMTP reply such as "451 later", every mail is refused with it."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    peers: list[Any] = field(default_factory=list)
    refuse: str = ""
    is_strict: bool = False
    """As Postfix with `reject_non_fqdn_helo_hostname`: a name in EHLO without a period is refused at RCPT."""
    names: list[str] = field(default_factory=list)
    """By which names clients greeted, one for each recipient."""

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        name = str(session.host_name)
        self.names.append(name)
        if self.is_strict and "." not in name and not name.startswith("["):
            return f"504 5.5.2 <{name}>: Helo command rejected: need fully-qualified hostname"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        if self.refuse:
            return self.refuse
        content = envelope.original_content or b""
        leak_detector.scan_mail(content)
        self.peers.append(session.peer)
        self.messages.append(message_from_bytes(content, policy=policy.default))
        self.recipients.append([str(address) for address in envelope.rcpt_tos])
        return "250 OK"

    @property
    def url(self) -> str:
        """The value for EMAIL_URL."""
        return f"smtp://127.0.0.1:{self.port}"

    def last(self) -> EmailMessage:
        return self.messages[-1]

    def last_token(self) -> str:
        """The token in the link of the last mail."""
        return token_in(self.last())

    def tokens(self, address: str, page: str) -> list[str]:
        """The tokens of the links to `page` that were mailed to `address`, oldest first."""
        mails = zip(self.recipients, self.messages, strict=True)
        return [token_in(mail) for to, mail in mails if to == [address] and f"/account/{page}?" in text_of(mail)]

    def wait_for(self, count: int, seconds: float = 20) -> None:
        """Wait until this number of mails has arrived."""
        deadline = time.monotonic() + seconds
        while len(self.messages) < count:
            assert time.monotonic() < deadline, f"{len(self.messages)} of {count} mails"
            time.sleep(0.05)


def text_of(message: EmailMessage) -> str:
    """The text/plain part."""
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def token_in(message: EmailMessage) -> str:
    found = re.search(r"token=([A-Za-z0-9_.=-]+)", text_of(message))
    assert found, text_of(message)
    return found[1]


@contextmanager
def smtp_server() -> Iterator[Mailbox]:
    """Run an SMTP server; yields its mailbox."""
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=0)
    # Not 0: aiosmtpd connects to the configured port to check that it serves.
    controller.port = closed_port()
    controller.start()
    mailbox.port = controller.port
    try:
        yield mailbox
    finally:
        controller.stop()


def use_mailbox(mailbox: Mailbox, settings: Any) -> None:
    """Configure Django to send mails to the server of this mailbox."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mailbox.port
