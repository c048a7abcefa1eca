"""The link in the mail to the old address that undoes a change of address."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from accounts.models import EmailChange, TotpDevice, User
from accounts.tasks import sweep_accounts
from tests.accounts.steps import (
    ATTACKER,
    NEW_PASSWORD,
    VICTIM,
    SendMails,
    add_credentials,
    change_email,
    count_credentials,
    profile,
    reset,
    sign_in,
    take_back,
    verify,
)
from tests.accounts.test_pages import submit
from tests.builders import make_user, verify_email
from tests.client import Client, client_of
from tests.mailbox import Mailbox

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


@pytest.mark.parametrize("proven", [False, True])
def test_link_mailed_to_the_old_address_undoes_the_change(
    mailbox: Mailbox, send_mails: SendMails, victim: User, proven: bool
) -> None:
    attacker, token = sign_in(VICTIM), client_of(victim)
    change_email(token, ATTACKER)
    send_mails()
    if proven:
        verify(mailbox.tokens(ATTACKER, "verify-email")[0], attacker)
        assert profile(attacker) == (ATTACKER, True)
    (link,) = mailbox.tokens(VICTIM, "take-back")
    take_back(link)
    for client in (attacker, token):
        client.ok("GET", "/api/user/profile", status=401)
    assert profile(sign_in(VICTIM)) == (VICTIM, True)
    assert send_mails() == 1
    reset(mailbox.tokens(VICTIM, "reset-password")[0])
    assert take_back(link, status=400)["details"][0]["field"] == "token"


@pytest.mark.both_databases
def test_attacker_cannot_take_back_after_the_owner(mailbox: Mailbox, send_mails: SendMails, victim: User) -> None:
    """The attacker's mailbox was the verified address for a while. The attacker's password is removed too."""
    attacker = sign_in(VICTIM)
    change_email(attacker, ATTACKER)
    send_mails()
    verify(mailbox.tokens(ATTACKER, "verify-email")[0], attacker)
    attacker.ok("POST", "/api/auth/forgot-password", {"email": ATTACKER})
    send_mails()
    reset(mailbox.tokens(ATTACKER, "reset-password")[0])
    change_email(sign_in(ATTACKER, NEW_PASSWORD), "third@example.net")
    send_mails()
    TotpDevice.objects.create(owner=victim, secret="x", confirmed_at=timezone.now())
    take_back(mailbox.tokens(VICTIM, "take-back")[0])
    take_back(mailbox.tokens(ATTACKER, "take-back")[0], status=400)
    sign_in(VICTIM, NEW_PASSWORD, status=401)
    send_mails()
    reset(mailbox.tokens(VICTIM, "reset-password")[-1])
    assert profile(sign_in(VICTIM, NEW_PASSWORD)) == (VICTIM, True)


def test_second_factor_older_than_the_change_is_kept(mailbox: Mailbox, send_mails: SendMails, victim: User) -> None:
    add_credentials(victim)
    change_email(client_of(victim), ATTACKER)
    send_mails()
    take_back(mailbox.last_token())
    assert count_credentials(victim) == [0, 1, 1]


@pytest.mark.both_databases
def test_first_link_undoes_all_later_changes(mailbox: Mailbox, send_mails: SendMails, victim: User) -> None:
    """After several changes, the link in the first mail undoes all of them."""
    token = client_of(victim)
    statuses = [
        token.call("PUT", "/api/user/profile", {"name": "V", "email": f"a{number}@example.net"}).status_code
        for number in range(21)
    ]
    assert statuses == [200] * 20 + [429]
    send_mails()
    links = mailbox.tokens(VICTIM, "take-back")
    assert len(links) == 10
    take_back(links[0])
    take_back(links[1], status=400)
    assert profile(sign_in(VICTIM)) == (VICTIM, True)


def test_take_back_is_refused_while_another_account_has_the_address(
    mailbox: Mailbox, send_mails: SendMails, victim: User
) -> None:
    owner = sign_in(VICTIM)
    change_email(owner, "new@example.org")
    send_mails()
    verify(mailbox.tokens("new@example.org", "verify-email")[0], owner)
    (link,) = mailbox.tokens(VICTIM, "take-back")
    other = verify_email(make_user(VICTIM))
    assert take_back(link, status=400)["code"] == "address_taken"
    assert profile(owner) == ("new@example.org", True)
    other.delete()
    take_back(link)


@pytest.mark.both_databases
def test_link_expires_after_seven_days_and_cannot_be_forged(
    mailbox: Mailbox, send_mails: SendMails, victim: User
) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        change_email(client_of(victim), ATTACKER)
        send_mails()
        link, verification = mailbox.tokens(VICTIM, "take-back")[0], mailbox.tokens(ATTACKER, "verify-email")[0]
        row, _, signature = link.rpartition(".")
        for forged in (verification, row, f"{row}.{signature[::-1]}", "x", ""):
            take_back(forged, status=400)
        verify(link, status=400)
        reset(link, status=400)
        clock.shift(dt.timedelta(days=7))
        take_back(link, status=400)
        assert profile(client_of(victim)) == (ATTACKER, False)
        clock.shift(dt.timedelta(seconds=-1))
        take_back(link)
        sweep_accounts()
    assert not EmailChange.unscoped.exists()


def test_the_page_takes_the_change_back(mailbox: Mailbox, send_mails: SendMails, victim: User) -> None:
    change_email(client_of(victim), ATTACKER)
    send_mails()
    path = f"/account/take-back?token={mailbox.tokens(VICTIM, 'take-back')[0]}"
    browser = Client(enforce_csrf_checks=True)
    page = browser.call("GET", path).content.decode()
    assert VICTIM in page
    assert ATTACKER in page
    assert submit(browser, path, page).status_code == 200
    assert profile(sign_in(VICTIM)) == (VICTIM, True)
    assert browser.call("GET", path).status_code == 400
