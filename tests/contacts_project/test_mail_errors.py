"""What the log says when the mail server does not take a mail: its reply, without personal data and secrets."""

import smtplib
import socket
import ssl
from base64 import b64encode

import pytest
from django.conf import LazySettings

from contacts_project.kernel.outbound.failures import describe_mail_error

ENCODED_PASSWORD = b64encode(b"\0mailer\0an application's password")
CERTIFICATE_ERROR = "certificate verify failed: self-signed certificate"


@pytest.mark.parametrize(
    ("error", "described"),
    [
        (
            smtplib.SMTPAuthenticationError(535, b"5.7.8 Error: authentication failed:\r\n UGFzc3dvcmQ6"),
            "SMTPAuthenticationError: 535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6",
        ),
        (
            smtplib.SMTPAuthenticationError(535, b"bob@example.org refused, see https://example.org/bad?user=bob"),
            "SMTPAuthenticationError: 535 *** refused, see ***",
        ),
        (
            smtplib.SMTPAuthenticationError(501, b"cannot decode " + ENCODED_PASSWORD),
            "SMTPAuthenticationError: 501 cannot decode ***",
        ),
        (smtplib.SMTPConnectError(421, b"4.3.2 Too busy"), "SMTPConnectError: 421 4.3.2 Too busy"),
        (smtplib.SMTPHeloError(501, "no such host"), "SMTPHeloError: 501 no such host"),
        (
            smtplib.SMTPSenderRefused(550, b"5.7.1 <service@example.org> is not yours", "service@example.org"),
            "SMTPSenderRefused: 550 5.7.1 *** is not yours",
        ),
        (
            smtplib.SMTPSenderRefused(550, b'5.1.8 <"Ada King"@example.org> is unknown', '"Ada King"@example.org'),
            "SMTPSenderRefused: 550 5.1.8 *** is unknown",
        ),
        (
            smtplib.SMTPConnectError(554, b"5.7.1 \x1b]0;title\x07Go\x00away\xe2\x80\xae\x9b2J"),
            "SMTPConnectError: 554 5.7.1 ]0;title Go away �2J",
        ),
        (smtplib.SMTPDataError(554, b"5.7.1 Ada Lovelace has had enough"), "SMTPDataError: 554 5.7.1"),
        (smtplib.SMTPDataError(554, b"Ada Lovelace has had enough"), "SMTPDataError: 554"),
        (
            smtplib.SMTPRecipientsRefused({"ada@example.org": (550, b"5.1.1 no such Lovelace")}),
            "SMTPRecipientsRefused: 550 5.1.1",
        ),
        (
            smtplib.SMTPServerDisconnected("Connection unexpectedly closed"),
            "SMTPServerDisconnected: Connection unexpectedly closed",
        ),
        (ConnectionRefusedError(111, "Connection refused"), "ConnectionRefusedError: Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "gaierror: Name or service not known"),
        (ssl.SSLCertVerificationError(1, CERTIFICATE_ERROR), f"SSLCertVerificationError: {CERTIFICATE_ERROR}"),
        (TimeoutError("timed out"), "TimeoutError"),
        (UnicodeError("label too long: lovelace"), "UnicodeError"),
    ],
)
def test_reply_is_described(error: Exception, described: str) -> None:
    assert describe_mail_error(error) == described


@pytest.mark.parametrize("form", ["pass word", "cGFzcyB3b3Jk", "AG1haWxlcgBwYXNzIHdvcmQ="])
def test_reply_that_repeats_the_password_is_masked(settings: LazySettings, form: str) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "mailer", "pass word"
    error = smtplib.SMTPAuthenticationError(500, f'5.5.1 Unknown command: "{form}"'.encode())
    assert describe_mail_error(error) == 'SMTPAuthenticationError: 500 5.5.1 Unknown command: "***"'


def test_long_reply_is_cut() -> None:
    assert len(describe_mail_error(smtplib.SMTPConnectError(421, b"busy " * 1000))) < 250
