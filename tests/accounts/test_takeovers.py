"""Attempts to take over an account by its address. Each was possible in an earlier version."""

import re

import pytest

from accounts.models import User
from tests.accounts.steps import (
    ATTACKER,
    NEW_PASSWORD,
    VICTIM,
    SendMails,
    add_credentials,
    change_email,
    count_credentials,
    profile,
    register,
    reset,
    sign_in,
    verify,
)
from tests.accounts.test_pages import submit
from tests.builders import PASSWORD, make_user
from tests.client import Client, client_of
from tests.mailbox import Mailbox, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def test_account_moved_to_the_victims_address_gets_nothing_of_the_victim(
    mandatory_verification: None, mailbox: Mailbox, send_mails: SendMails
) -> None:
    register(ATTACKER)
    send_mails()
    verify(mailbox.last_token(), password=PASSWORD)
    stranger = sign_in(ATTACKER)
    token = Client()
    token.bearer = stranger.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201)["apiToken"]["token"]
    change_email(stranger, VICTIM)
    register(VICTIM, NEW_PASSWORD)
    send_mails()
    strangers, victims = mailbox.tokens(VICTIM, "verify-email")
    assert verify(strangers, status=401)["code"] == "sign_in_required"
    verify(victims)
    victim = sign_in(VICTIM, NEW_PASSWORD)
    assert profile(victim) == (VICTIM, True)
    assert profile(token) == profile(stranger) == (ATTACKER, True)
    assert victim.ok("GET", "/api/user/api-tokens")["tokens"] == []
    verify(strangers, victim, status=400)


def test_resetting_an_unclaimed_account_revokes_all_other_access(
    mailbox: Mailbox, send_mails: SendMails, alice: User
) -> None:
    """A stranger registered Alice's address; she opens the link, which proves it, and resets the password."""
    stranger = sign_in(alice.email)
    add_credentials(alice)
    stranger.ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    send_mails()
    verify(mailbox.last_token())
    assert profile(stranger) == (alice.email, True)
    Client().ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    send_mails()
    reset(mailbox.last_token())
    stranger.ok("GET", "/api/auth/session", status=401)
    sign_in(alice.email, NEW_PASSWORD)
    assert count_credentials(alice) == [0, 0, 0]


@pytest.mark.parametrize("how", ["session", "password", "reset"])
def test_second_factor_of_a_claimed_account_survives_a_reset(
    mailbox: Mailbox, send_mails: SendMails, alice: User, how: str
) -> None:
    client = sign_in(alice.email)
    kind = "forgot-password" if how == "reset" else "resend-verification"
    client.ok("POST", f"/api/auth/{kind}", {"email": alice.email})
    send_mails()
    match how:
        case "session":
            verify(mailbox.last_token(), client)
        case "password":
            verify(mailbox.last_token(), password=PASSWORD)
        case "reset":
            reset(mailbox.last_token())
    add_credentials(alice)
    client.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    send_mails()
    reset(mailbox.last_token())
    assert count_credentials(alice) == [0, 1, 1], "tokens end with every reset, nothing else does"


def test_link_with_a_wrong_password_verifies_nothing(mailbox: Mailbox, send_mails: SendMails, alice: User) -> None:
    Client().ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    send_mails()
    assert verify(mailbox.last_token(), status=401, password="Wrong-Horse-7")["code"] == "sign_in_required"
    verify(mailbox.last_token())


def test_stolen_token_cannot_take_over_by_changing_the_address(
    mailbox: Mailbox, send_mails: SendMails, victim: User
) -> None:
    owner, token = sign_in(VICTIM), client_of(victim)
    change_email(token, ATTACKER)
    send_mails()
    (link,) = mailbox.tokens(ATTACKER, "verify-email")
    for attacker in (Client(), token):
        assert verify(link, attacker, status=401)["code"] == "sign_in_required"
    assert verify(link, status=401, password="Wrong-Horse-7")["code"] == "sign_in_required"
    for email in (ATTACKER, VICTIM):
        Client().ok("POST", "/api/auth/forgot-password", {"email": email})
    send_mails()
    assert mailbox.tokens(ATTACKER, "reset-password") == []
    sign_in(VICTIM)
    reset(mailbox.tokens(VICTIM, "reset-password")[0])
    owner.ok("GET", "/api/auth/session", status=401)
    token.ok("GET", "/api/user/profile", status=401)
    sign_in(VICTIM, NEW_PASSWORD)


def test_new_address_is_verified_with_a_session_or_the_password(
    mailbox: Mailbox, send_mails: SendMails, victim: User
) -> None:
    owner = sign_in(VICTIM)
    change_email(owner, "one@example.org")
    send_mails()
    (link,) = mailbox.tokens("one@example.org", "verify-email")
    verify(link, status=401)
    verify(link, owner)
    assert profile(owner) == ("one@example.org", True)
    verify(link, owner, status=400)
    change_email(owner, "two@example.org")
    send_mails()
    verify(mailbox.tokens("two@example.org", "verify-email")[0], password=PASSWORD)
    assert profile(owner) == ("two@example.org", True)
    Client().ok("POST", "/api/auth/forgot-password", {"email": VICTIM})
    assert send_mails() == 0, "the old address has no rights any more"
    sign_in(VICTIM, status=401)


def test_opening_mailed_links_changes_nothing(mailbox: Mailbox, send_mails: SendMails, victim: User) -> None:
    newcomer = make_user("new@example.org")
    change_email(client_of(victim), ATTACKER)
    for email in (VICTIM, "new@example.org"):
        Client().ok("POST", "/api/auth/forgot-password", {"email": email})
    Client().ok("POST", "/api/auth/resend-verification", {"email": "new@example.org"})
    send_mails()
    assert len(mailbox.messages) == 5
    for message in mailbox.messages:
        links = re.findall(r"http://[^\s\"<]+", text_of(message))
        assert len(links) == 1
        for method in ("GET", "HEAD", "OPTIONS"):
            Client().call(method, links[0].partition("8000")[2])
    for user, email in ((victim, ATTACKER), (newcomer, "new@example.org")):
        before = user.password, user.proven_email, user.claimed_at
        user.refresh_from_db()
        assert (user.email, user.password, user.proven_email, user.claimed_at) == (email, *before)


def test_page_asks_for_the_password_if_nobody_is_signed_in(
    mailbox: Mailbox, send_mails: SendMails, victim: User
) -> None:
    owner = client_of(victim)
    change_email(owner, "new@example.org")
    send_mails()
    path = f"/account/verify-email?token={mailbox.tokens('new@example.org', 'verify-email')[0]}"
    browser = Client(enforce_csrf_checks=True)
    page = browser.call("GET", path).content.decode()
    assert 'autocomplete="current-password" required' in page
    assert "/account/sign-in?next=" in page
    for password in ("", "Wrong-Horse-7"):
        refused = submit(browser, path, page, password=password)
        assert (refused.status_code, 'class="problem"' in refused.content.decode()) == (403, True)
    assert profile(owner) == ("new@example.org", False)
    assert submit(browser, path, page, password=PASSWORD).status_code == 200
    assert profile(owner) == ("new@example.org", True)
