"""Spellings of one address are one account, and what IDNA 2008 tells apart is two (`faß.example`, `fass.example`)."""

import datetime as dt
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.checks import check_accounts
from accounts.models import AccountMail, User
from accounts.services.addresses import address_write, prove_email
from notifications.channels.email import message_of as notice_message
from notifications.channels.endpoint import message_of as destination_message
from notifications.models import Destination
from notifications.notices.notice import Notice, NoticeKind
from tests.accounts.steps import NEW_PASSWORD, SendMails, change_email, profile, register, reset, sign_in
from tests.accounts.test_oidc import sign_in as sign_in_by_provider
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client, client_of
from tests.mailbox import Mailbox
from tests.oidc_provider import Provider

DELETION = {"password": PASSWORD, "confirmationText": "DELETE"}
SHARP, DOUBLE, A_LABEL = "x@faß.example", "x@fass.example", "x@xn--fa-hia.example"

pytestmark = pytest.mark.django_db


def test_sharp_s_is_another_account_than_double_s() -> None:
    register(DOUBLE)
    sign_in(SHARP, status=401)
    register(SHARP, NEW_PASSWORD)
    assert profile(sign_in(SHARP, NEW_PASSWORD)) == (SHARP, False)
    assert profile(sign_in(A_LABEL, NEW_PASSWORD)) == (SHARP, False)
    sign_in(DOUBLE, NEW_PASSWORD, status=401)
    body = {"email": "X@FAẞ.example", "password": PASSWORD, "name": "Max"}
    Client().ok("POST", "/api/auth/register", body, status=400)


def test_mails_go_to_the_domain_that_was_entered(mailbox: Mailbox, send_mails: SendMails) -> None:
    double, sharp = verify_email(make_user(DOUBLE)), make_user(SHARP)
    for address in (SHARP, DOUBLE, A_LABEL):
        Client().ok("POST", "/api/auth/forgot-password", {"email": address})
    assert send_mails() == 3
    assert mailbox.recipients == [[A_LABEL], [DOUBLE], [A_LABEL]]
    assert [str(message["To"]) for message in mailbox.messages] == [A_LABEL, DOUBLE, A_LABEL]
    reset(mailbox.tokens(A_LABEL, "reset-password")[0])
    sign_in(SHARP, NEW_PASSWORD)
    sign_in(DOUBLE)
    assert User.objects.with_proven_email(A_LABEL).get() == sharp
    assert User.objects.with_proven_email(DOUBLE).get() == double


def test_notices_go_to_the_domain_that_was_entered() -> None:
    now = timezone.now()
    owner = verify_email(make_user(SHARP))
    notice = Notice(uuid4(), NoticeKind.TEST, owner, {}, now, now, now + dt.timedelta(days=1))
    assert notice_message(notice).to == [A_LABEL]
    destination = Destination(owner=owner, label="Mine", url="https://hooks.example.org/a", auto_disabled_at=now)
    assert destination_message(destination).to == [A_LABEL]


def test_a_provider_vouches_for_the_domain_that_it_names(browser: Client, provider: Provider) -> None:
    double = verify_email(make_user(DOUBLE))
    provider.claims["email"] = SHARP
    sign_in_by_provider(browser, provider)
    user = browser.ok("GET", "/api/auth/session")["user"]
    assert user["id"] != str(double.pk)
    assert (user["email"], user["emailVerified"]) == (SHARP, True)
    provider.claims.update(email=A_LABEL, sub="another")
    again = Client()
    sign_in_by_provider(again, provider)
    assert again.ok("GET", "/api/auth/session")["user"]["id"] == user["id"]


def test_change_to_another_domain_is_a_change(mailbox: Mailbox, send_mails: SendMails) -> None:
    api = client_of(verify_email(make_user(DOUBLE)))
    change_email(api, SHARP)
    assert send_mails() == 2
    assert sorted(mailbox.recipients) == [[DOUBLE], [A_LABEL]]
    unchanged = api.ok("PUT", "/api/user/profile", {"name": "X", "email": "X@XN--FA-HIA.example"})
    assert (unchanged["emailChanged"], unchanged["user"]["email"]) == (False, "X@faß.example")


@pytest.mark.parametrize(
    "address",
    [
        "x@☃.example",  # a symbol
        "x@a\u200cb.example",  # a joiner between Latin letters, which IDNA 2003 drops: another's domain
        "x@ä..example",
        f"x@{'ä' * 60}.example",  # over 63 characters in ASCII
    ],
)
def test_domains_that_idna_2008_refuses_are_no_addresses(address: str) -> None:
    body = {"email": address, "password": PASSWORD, "name": "Max"}
    response = Client().ok("POST", "/api/auth/register", body, status=400)
    assert [detail["field"] for detail in response["details"]] == ["email"]


@pytest.mark.parametrize("address", ["x@उदाहरण.example", "x@نامه\u200cای.example", "x@名前.example", "x@ß.example"])
def test_domains_of_all_scripts_are_addresses(address: str) -> None:
    register(address)
    assert profile(sign_in(address)) == (address, False)


def test_an_account_with_a_capital_i_signs_in_and_registers_once() -> None:
    """Run on a Turkish database, too, which makes another letter of an I: tests/contacts_project."""
    register("INA.ISIK@EXAMPLE.org")
    for spelling in ("INA.ISIK@EXAMPLE.org", "ina.isik@example.org", "Ina.Isik@Example.ORG"):
        assert profile(sign_in(spelling)) == ("INA.ISIK@example.org", False)
        body = {"email": spelling, "password": PASSWORD, "name": "Ina"}
        Client().ok("POST", "/api/auth/register", body, status=400)
        assert User.objects.with_email(spelling).count() == 1


def test_addresses_are_folded_by_the_service_and_not_by_the_database() -> None:
    user = verify_email(make_user("Inna.IVANOVA@Example.org"))
    stored = User.objects.values_list("email", "email_key", "proven_email_key").get(pk=user.pk)
    assert stored == ("Inna.IVANOVA@example.org", "inna.ivanova@example.org", "inna.ivanova@example.org")
    with transaction.atomic(), pytest.raises(IntegrityError):
        verify_email(make_user("inna.ivanova@EXAMPLE.org"))
    for statement in (User.objects.with_email(DOUBLE).query, User.objects.claiming(DOUBLE).query):
        assert "LOWER" not in str(statement).upper()


def test_mails_by_address_alone_are_deleted_with_the_account() -> None:
    user = make_user(SHARP)
    make_user(DOUBLE)
    for address in ("X@FAẞ.example", DOUBLE):
        Client().ok("POST", "/api/auth/forgot-password", {"email": address})
    sign_in(SHARP).ok("DELETE", "/api/user/delete", DELETION)
    assert not User.objects.filter(pk=user.pk).exists()
    assert list(AccountMail.objects.values_list("address", flat=True)) == [DOUBLE]


def test_commands_find_the_account_in_any_spelling() -> None:
    make_user(SHARP)
    with pytest.raises(CommandError, match="no CardDAV connection"):
        call_command("sync_carddav", user="X@XN--FA-HIA.example")
    with pytest.raises(CommandError, match="There is no account"):
        call_command("sync_carddav", user=DOUBLE)


def test_doctor_names_accounts_whose_stored_address_reads_otherwise_today() -> None:
    def report() -> str:
        return "\n".join(str(message) for message in check_accounts(None) if message.id == "doctor.W071")

    users = [make_user(f"{name}@example.org") for name in "abc"]
    assert report() == ""
    for user, address in zip(users, ("a@xn--fa-hia.example", "b@☃.example", "c@example.org"), strict=True):
        User.objects.filter(pk=user.pk).update(email=address)
    assert "2 accounts" in report()
    assert all((str(user.pk) in report()) == (user is not users[2]) for user in users)
    assert User.objects.get(pk=users[0].pk).email == "a@xn--fa-hia.example"


def test_an_account_whose_proven_address_another_has_in_another_spelling_keeps_its_data() -> None:
    """Collations of databases let two accounts prove INFO@ and info@; the older one has the address."""
    first, second = verify_email(make_user("info@example.org")), make_user("INFO@example.org")
    second.set_password(NEW_PASSWORD)
    second.save()
    key = f"info@example.org {second.pk.hex}"
    User.objects.filter(pk=second.pk).update(
        proven_email="INFO@example.org", proven_email_key=key, claimed_at=first.claimed_at
    )
    assert User.objects.with_proven_email("Info@example.org").get() == first
    session = sign_in("INFO@example.org", NEW_PASSWORD)
    session.ok("PUT", "/api/user/profile", {"name": "Second", "email": "INFO@example.org"})
    stored = User.objects.get(pk=second.pk)
    assert (stored.name, stored.proven_email, stored.proven_email_key) == ("Second", "INFO@example.org", key)
    assert "INFO" not in str(check_accounts(None))
    assert any(str(second.pk) in str(message) for message in check_accounts(None) if message.id == "doctor.W072")
    sign_in("info@example.org").ok("DELETE", "/api/user/delete", DELETION)
    with address_write(second) as stored:
        prove_email(stored, stored.email, claims=True, now=first.claimed_at)  # type: ignore[arg-type]
    assert User.objects.with_proven_email("info@example.org").get() == second
