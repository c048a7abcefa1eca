"""A real SMTP server on loopback that keeps what it is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from tests.loopback import closed_port


class Mailbox:
    """aiosmtpd's handler: remembers messages, answers as it is told."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.answer = "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if self.answer.startswith("2"):
            self.messages.append(message_from_bytes(envelope.content, policy=policy.default))
        return self.answer


@contextmanager
def smtp_server(settings: Any) -> Iterator[Mailbox]:
    """Run a mail server and let Django send to it."""
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=closed_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_TIMEOUT = 2
    try:
        yield mailbox
    finally:
        controller.stop()
