"""Mails as a mail server receives them."""

from email.message import EmailMessage
from typing import Any

import pytest

from accounts.models import User
from notifications.channels import channels
from notifications.channels.email import EMAIL_KEY
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.wording import wording_of
from tests.builders import verify_email
from tests.client import Client
from tests.loopback import closed_port, hang, raw_server
from tests.mailbox import Mailbox
from tests.notifications.notices import EVENT, make_notice

pytestmark = pytest.mark.sqlite_suffices

LINK = "http://127.0.0.1:8000/api/unsubscribe?token="


def sent(mailbox: Mailbox, notice: Notice) -> EmailMessage:
    assert channels()["email"].send(EMAIL_KEY, notice).is_ok
    return mailbox.messages[-1]


def part(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    assert body is not None
    text: str = body.get_content()
    return text.replace("\r\n", "\n")


def test_mail_has_text_and_html(alice: User, mailbox: Mailbox) -> None:
    message = sent(mailbox, make_notice(alice, personName="<Ada> & Co"))
    assert message["To"] == "alice@example.org"
    assert message["From"] == "Contact network <contacts@127.0.0.1>"
    assert message["Subject"] == "Birthday: <Ada> & Co"
    text, html = part(message, "plain"), part(message, "html")
    for line in ("It is today, Thursday, 10 December (2026-12-10).", "http://127.0.0.1:8000/app/people/"):
        assert line in text
        assert line in html
    assert "Birthday: <Ada> & Co" in text
    assert "&lt;Ada&gt; &amp; Co" in html
    assert "<Ada>" not in html
    assert '<html lang="en">' in html
    assert LINK in text
    assert LINK in html


def test_mail_has_a_row_of_action_buttons(alice: User, mailbox: Mailbox) -> None:
    notice = make_notice(alice)
    buttons = wording_of(notice).buttons
    button = buttons[0]
    assert [one.label for one in buttons] == [
        *("Open", "Contacted today", "Again tomorrow", "Again in 3 days", "Not this time"),
    ]
    message = sent(mailbox, notice)
    for one in buttons:
        assert f"\n{one.label}:\n{one.url}\n" in part(message, "plain")
        assert one.url in part(message, "html")
    assert part(message, "html").count(f'class="button" href="{button.url}"') == 1


def test_unsubscribe_link_is_in_the_headers(alice: User, mailbox: Mailbox) -> None:
    """RFC 8058, section 3.1."""
    message = sent(mailbox, make_notice(alice))
    assert message["List-Unsubscribe"].startswith(f"<{LINK}"), "on one line: a folded link is not for every program"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["Auto-Submitted"] == "auto-generated"


def test_every_try_has_the_same_message_id(alice: User, mailbox: Mailbox) -> None:
    notice = make_notice(alice)
    first, second = sent(mailbox, notice), sent(mailbox, notice)
    assert first["Message-ID"] == second["Message-ID"]
    assert str(notice.id) in first["Message-ID"]


def test_mail_is_in_the_accounts_language(alice: User, mailbox: Mailbox) -> None:
    alice.language = "de-DE"
    message = sent(mailbox, make_notice(alice))
    assert message["Subject"] == "Geburtstag: Ada Lovelace"
    assert "Abbestellen" in part(message, "plain")
    assert '<html lang="de-DE">' in part(message, "html")


def test_digest_has_its_own_unsubscribe_link(alice: User, mailbox: Mailbox) -> None:
    digest = sent(mailbox, make_notice(alice, NoticeKind.DIGEST))
    reminder = sent(mailbox, make_notice(alice))
    assert digest["Subject"] == "1 event in the coming week"
    text, html = part(digest, "plain"), part(digest, "html")
    assert "weekly digest" in text
    assert "Thursday, 10 December (2026-12-10)\n- Ada Lovelace: Birthday · turns 211\n  http://" in text
    for shown in ("Thursday, 10 December", "Birthday · turns 211", f'/app/people/{EVENT["personId"]}"'):
        assert shown in html
    assert (text.count("Ada Lovelace"), html.count("Ada Lovelace")) == (1, 1)
    assert digest["List-Unsubscribe"] != reminder["List-Unsubscribe"]


def test_name_cannot_inject_headers(alice: User, mailbox: Mailbox) -> None:
    outcome = channels()["email"].send(EMAIL_KEY, make_notice(alice, personName="Ada\r\nBcc: all@example.org"))
    assert outcome.is_ok
    assert mailbox.messages[0]["Bcc"] is None


@pytest.mark.parametrize("reply", ["451 try later", "550 no such user"])
def test_refused_mail_is_a_failure(alice: User, mailbox: Mailbox, caplog: pytest.LogCaptureFixture, reply: str) -> None:
    mailbox.refuse = reply
    outcome = channels()["email"].send(EMAIL_KEY, make_notice(alice))
    assert (outcome.code, outcome.is_final, outcome.is_internal) == ("unexpected_response", False, False)
    assert f"A mail could not be sent: SMTPDataError: {reply[:3]}" in caplog.messages


def test_unreachable_mail_server_is_a_failure(alice: User, mailbox: Mailbox, settings: Any) -> None:
    settings.EMAIL_PORT = closed_port()
    assert channels()["email"].send(EMAIL_KEY, make_notice(alice)).code == "refused"


def test_silent_mail_server_is_a_failure(alice: User, mailbox: Mailbox, settings: Any) -> None:
    settings.EMAIL_TIMEOUT = 0.3
    with raw_server(hang) as port:
        settings.EMAIL_PORT = port
        assert channels()["email"].send(EMAIL_KEY, make_notice(alice)).code == "timeout"


def test_target_is_the_address_unless_disabled(api: Client, alice: User, settings: Any) -> None:
    def off() -> list[str | None]:
        alice.refresh_from_db()
        (target,) = channels()["email"].targets(alice)
        assert (target.key, target.label) == (EMAIL_KEY, "alice@example.org")
        return [target.off_reason]

    assert off() == [None]
    api.ok("put", "/api/notifications/email", {"enabled": False})
    assert off() == ["email_disabled"]
    api.ok("put", "/api/notifications/email", {"enabled": True})
    settings.EMAIL_VERIFICATION = "mandatory"
    assert off() == ["email_unverified"]
    verify_email(alice)
    assert off() == [None]


def test_switch_accepts_only_true_and_false(api: Client) -> None:
    bodies: list[Any] = [{}, {"enabled": None}, {"enabled": "yes"}, {"enabled": 1}, []]
    for body in bodies:
        assert api.ok("put", "/api/notifications/email", body, status=400)["code"] == "invalid"
    assert api.ok("get", "/api/notifications/channels")["email"] == {"enabled": True}
