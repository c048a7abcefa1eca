"""Verify an address, reset a password: by mails through a real SMTP server."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AccountMail, OidcIdentity, User
from accounts.services.mail import send_due_mails, send_mail
from tests.accounts.steps import NEW_PASSWORD, SendMails
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client, client_of
from tests.mailbox import Mailbox, text_of

REGISTRATION = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


@pytest.fixture
def caller() -> Client:
    return Client()


def test_registration_mails_a_link_that_works_once(caller: Client, mailbox: Mailbox, send_mails: SendMails) -> None:
    caller.ok("POST", "/api/auth/register", REGISTRATION, status=201)
    assert send_mails() == 1
    assert mailbox.recipients == [["ada@example.org"]]
    message = mailbox.last()
    assert message["Subject"] == "Verify your e-mail address"
    assert text_of(message).splitlines()[0] == "Hello,"
    token = mailbox.last_token()
    assert "message" in Client().ok("POST", "/api/auth/verify-email", {"token": token})
    assert caller.ok("GET", "/api/auth/session")["user"]["emailVerified"] is True
    again = Client().ok("POST", "/api/auth/verify-email", {"token": token}, status=400)
    assert again["details"][0]["field"] == "token"


LURE = "Visit http://evil.example now"


def mails_in(mailbox: Mailbox) -> str:
    """All that was mailed: subjects and both parts."""
    parts = [part.get_content() for mail in mailbox.messages for part in mail.walk() if not part.is_multipart()]
    return "\n".join([*(mail["Subject"] for mail in mailbox.messages), *parts])


@pytest.mark.parametrize("verification", ["optional", "mandatory"])
@pytest.mark.parametrize("field", ["name", "nickname"])
def test_no_mail_to_an_unproven_address_says_what_the_account_is_called(
    caller: Client, mailbox: Mailbox, send_mails: SendMails, settings: Any, field: str, verification: str
) -> None:
    """A stranger registers with somebody else's address, and lets every mail be sent that can be."""
    settings.EMAIL_VERIFICATION = verification
    caller.ok("POST", "/api/auth/register", {**REGISTRATION, field: LURE, "surname": LURE}, status=201)
    send_mails()
    caller.ok("POST", "/api/auth/resend-verification", {"email": "ada@example.org"})
    send_mails()
    caller.ok("POST", "/api/auth/forgot-password", {"email": "ada@example.org"})
    send_mails()
    assert [len(mailbox.messages), len(mailbox.tokens("ada@example.org", "reset-password"))] == [3, 1]
    assert "evil.example" not in mails_in(mailbox)


def test_a_change_to_an_unproven_address_does_not_say_it_either(
    alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    verify_email(alice)
    body = {"name": LURE, "email": "victim@example.org"}
    client_of(alice).ok("PUT", "/api/user/profile", body)
    send_mails()
    to_victim = [mail for to, mail in zip(mailbox.recipients, mailbox.messages, strict=True) if to != [alice.email]]
    assert len(mailbox.messages) == 2
    assert [LURE in text_of(mail) for mail in to_victim] == [False]
    assert mails_in(mailbox).count(f"Hello {LURE},") == 2, "the proven address is told, as text and HTML"


def test_mandatory_verification_activates_the_account(
    caller: Client, mailbox: Mailbox, send_mails: SendMails, settings: Any
) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    caller.ok("POST", "/api/auth/register", REGISTRATION, status=201)
    login = {"email": "ada@example.org", "password": PASSWORD}
    assert caller.ok("POST", "/api/auth/login", login, status=403)["code"] == "email_unverified"
    send_mails()
    caller.ok("POST", "/api/auth/verify-email", {"token": mailbox.last_token()})
    caller.ok("POST", "/api/auth/login", login)


def test_a_taken_address_is_reported_to_its_owner_only(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails, settings: Any
) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    verify_email(alice)
    caller.ok("POST", "/api/auth/register", {**REGISTRATION, "email": "Alice@example.org"}, status=201)
    assert send_mails() == 1
    assert mailbox.recipients == [["alice@example.org"]]
    assert mailbox.last()["Subject"] == "You already have an account"


def test_changed_address_is_mailed_a_link(api: Client, mailbox: Mailbox, send_mails: SendMails) -> None:
    api.ok("PUT", "/api/user/profile", {"name": "Alice", "email": "new@example.org"})
    send_mails()
    assert mailbox.recipients == [["new@example.org"]]
    Client().ok("POST", "/api/auth/verify-email", {"token": mailbox.last_token()})
    assert api.ok("GET", "/api/user/profile")["user"]["emailVerified"] is True


def test_a_link_for_a_former_address_verifies_nothing(api: Client, mailbox: Mailbox, send_mails: SendMails) -> None:
    api.ok("PUT", "/api/user/profile", {"name": "Alice", "email": "first@example.org"})
    send_mails()
    first = mailbox.last_token()
    api.ok("PUT", "/api/user/profile", {"name": "Alice", "email": "second@example.org"})
    Client().ok("POST", "/api/auth/verify-email", {"token": first}, status=400)
    assert api.ok("GET", "/api/user/profile")["user"]["emailVerified"] is False


def test_a_forgotten_password_is_reset_once_and_ends_all_sessions(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    caller.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    Client().ok("POST", "/api/auth/forgot-password", {"email": "ALICE@example.org"})
    assert send_mails() == 1
    token = mailbox.last_token()
    weak = Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": "weak"}, status=400)
    assert weak["details"][0]["field"] == "password"
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": NEW_PASSWORD})
    caller.ok("GET", "/api/auth/session", status=401)
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": "Third-Horse-9"}, status=400)
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=401)
    user = Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": NEW_PASSWORD})["user"]
    assert user["emailVerified"] is True


@pytest.mark.both_databases
def test_the_registrant_of_a_foreign_address_loses_access(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    """Alice's address was never verified: the person who registered may not be the one who reads the mail."""
    squatter = client_of(alice)
    OidcIdentity.objects.create(owner=alice, issuer="https://id.example", subject="squatter")
    squatter.ok("GET", "/api/people")
    caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    send_mails()
    caller.ok("POST", "/api/auth/reset-password", {"token": mailbox.last_token(), "password": NEW_PASSWORD})
    squatter.ok("GET", "/api/people", status=401)
    assert not OidcIdentity.objects.owned_by(alice).exists()


def test_reset_revokes_api_tokens(caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails) -> None:
    verify_email(alice)
    app = client_of(alice)
    caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    send_mails()
    caller.ok("POST", "/api/auth/reset-password", {"token": mailbox.last_token(), "password": NEW_PASSWORD})
    app.ok("GET", "/api/people", status=401)


@pytest.mark.parametrize("path", ["forgot-password", "resend-verification"])
def test_known_and_unknown_addresses_get_the_same_response_and_queries(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails, path: str
) -> None:
    responses, queries = [], []
    for email in ("alice@example.org", "nobody@example.org"):
        with CaptureQueriesContext(connection) as captured:
            responses.append(caller.call("POST", f"/api/auth/{path}", {"email": email}))
        queries.append(len(captured))
    assert responses[0].status_code == responses[1].status_code == 200
    assert responses[0].content == responses[1].content
    assert queries[0] == queries[1]
    assert send_mails() == 1
    assert mailbox.recipients == [["alice@example.org"]]
    assert not AccountMail.objects.exists()


def test_a_verified_address_is_not_mailed_again(caller: Client, mailbox: Mailbox, send_mails: SendMails) -> None:
    verify_email(make_user("ada@example.org"))
    caller.ok("POST", "/api/auth/resend-verification", {"email": "ada@example.org"})
    assert send_mails() == 0


def test_links_expire(caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
        caller.ok("POST", "/api/auth/resend-verification", {"email": alice.email})
        send_mails()
        reset, verify = sorted(map(text_of, mailbox.messages), key=lambda text: "verify-email" in text)
        clock.shift(3601)
        body = {"token": token(reset), "password": NEW_PASSWORD}
        caller.ok("POST", "/api/auth/reset-password", body, status=400)
        clock.shift(3 * 24 * 3600)
        caller.ok("POST", "/api/auth/verify-email", {"token": token(verify)}, status=400)


def token(text: str) -> str:
    return text.partition("token=")[2].split()[0]


def test_token_is_valid_only_for_its_purpose(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    caller.ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    send_mails()
    body = {"token": mailbox.last_token(), "password": NEW_PASSWORD}
    caller.ok("POST", "/api/auth/reset-password", body, status=400)
    for bad in ("", "x", "a.b.c", mailbox.last_token() + "x", 5, None):
        caller.ok("POST", "/api/auth/verify-email", {"token": bad}, status=400)


def test_mail_is_in_the_language_of_the_account(caller: Client, mailbox: Mailbox, send_mails: SendMails) -> None:
    subjects = {}
    for language in ("en", "es-ES", "ja-JP", "nb-NO", "de-DE", "fr-FR"):
        body = {**REGISTRATION, "email": f"{language}@example.org", "language": language}
        caller.ok("POST", "/api/auth/register", body, status=201)
        send_mails()
        subjects[language] = mailbox.last()["Subject"]
    assert subjects["de-DE"] == "Bestätigen Sie Ihre E-Mail-Adresse"
    assert len(set(subjects.values())) == 6


def test_mail_is_retried_when_the_mail_server_is_down(
    caller: Client, alice: User, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    now = timezone.now()
    mailbox.refuse = "451 4.3.0 later"
    assert send_due_mails(now=now) == 0
    assert "A RESET mail could not be sent: SMTPDataError: 451 4.3.0" in caplog.messages
    mailbox.refuse = ""
    assert send_due_mails(now=now + dt.timedelta(seconds=59)) == 0
    assert send_due_mails(now=now + dt.timedelta(seconds=61)) == 1
    assert len(mailbox.messages) == 1


@pytest.mark.both_databases
def test_undeliverable_mail_does_not_delay_others(
    caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    """No mail server is asked: the domain's first label is too long in ASCII (RFC 5890, section 2.3.2.1)."""
    stranded = make_user(f"a@{'ü' * 60}.example")
    for user in (stranded, alice):
        caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
        AccountMail.objects.filter(address=alice.email).update(address=user.email)
    assert send_mails() == 1
    now = timezone.now()
    for hours in range(1, 50, 6):
        send_due_mails(now=now + dt.timedelta(hours=hours))
    assert not AccountMail.objects.exists()


@pytest.mark.both_databases
def test_repeated_task_sends_a_mail_once(caller: Client, alice: User, mailbox: Mailbox) -> None:
    caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    mail, now = AccountMail.objects.get(), timezone.now()
    assert [send_mail(mail_id=mail.pk, now=now) for _ in range(2)] == [True, False]
    assert len(mailbox.messages) == 1


def test_mail_of_a_killed_sender_is_sent_after_its_lease(
    caller: Client, alice: User, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    now = timezone.now()
    with monkeypatch.context() as patch:
        patch.setattr("accounts.services.mail._build_message", kill_sender)
        with pytest.raises(KeyboardInterrupt):
            send_due_mails(now=now)
    assert send_due_mails(now=now + dt.timedelta(minutes=4)) == 0
    assert send_due_mails(now=now + dt.timedelta(minutes=6)) == 1


def kill_sender(mail: AccountMail) -> None:
    raise KeyboardInterrupt


def test_mails_per_address_are_limited(caller: Client, alice: User, mailbox: Mailbox, send_mails: SendMails) -> None:
    for _ in range(12):
        caller.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    caller.ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    assert send_mails() == 10 + 1, "kinds are counted apart"
    assert not AccountMail.objects.exists()
