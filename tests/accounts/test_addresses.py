"""Which account has an address: claims and verification, without revealing which addresses have accounts."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from accounts.services import registration
from accounts.tasks import sweep_accounts
from contacts_project.kernel.rate_limits import RateLimit
from tests.accounts.steps import NEW_PASSWORD, SendMails, change_email, profile, register, sign_in, verify
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client, client_of
from tests.mailbox import Mailbox

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def test_unverified_registration_does_not_block_the_address(
    mandatory_verification: None, mailbox: Mailbox, send_mails: SendMails
) -> None:
    """The first account of an instance is an operator, and so is the one that replaces it with the same address."""
    register("ada@example.org")
    register("Ada@Example.org", NEW_PASSWORD)
    register("ada@example.org", "Third-Horse-9")
    send_mails()
    second = mailbox.tokens("Ada@example.org", "verify-email")[0]
    assert "removes that account" in mailbox.messages[-1].as_string()
    verify(second)
    assert User.objects.get().is_superuser
    sign_in("ada@example.org", NEW_PASSWORD)
    sign_in("ada@example.org", PASSWORD, status=401)
    for late in mailbox.tokens("ada@example.org", "verify-email"):
        verify(late, status=400)


def test_unverified_address_is_taken_when_verification_is_optional(alice: User, mallory: User) -> None:
    api = client_of(mallory)
    change_email(api, "claimed@example.org")
    for taken in ("Claimed@example.org", "ALICE@example.org"):
        body = {"email": taken, "password": PASSWORD, "name": "Ada"}
        response = Client().ok("POST", "/api/auth/register", body, status=400)
        assert response["details"][0]["field"] == "email"


def test_verified_address_stays_reserved_while_a_change_is_pending(alice: User, mallory: User) -> None:
    change_email(client_of(verify_email(alice)), "new@example.org")
    body = {"name": "M", "email": "alice@example.org"}
    client_of(mallory).ok("PUT", "/api/user/profile", body, status=400)
    back = client_of(alice).ok("PUT", "/api/user/profile", {**body, "email": "ALICE@example.org"})
    assert (back["emailChanged"], back["user"]["email"], back["user"]["emailVerified"]) == (
        True,
        "ALICE@example.org",
        True,
    )


def test_free_and_taken_addresses_are_indistinguishable(
    mandatory_verification: None, alice: User, mailbox: Mailbox, send_mails: SendMails
) -> None:
    """Responses and numbers of statements are the same for a change, a registration, a sign-in and a new mail."""
    alice.set_password("Third-Horse-9")
    alice.save()
    verify_email(alice)
    outcomes = []
    for email in ("first@example.org", "alice@example.org", "free@example.org"):
        mover = make_user(f"to-{email}")
        verify_email(mover)
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("PUT", "/api/user/profile", {"name": "M", "email": email}),
            ("GET", "/api/user/profile", {}),
            ("POST", "/api/auth/login", {"email": email, "password": PASSWORD}),
            ("POST", "/api/auth/register", {"email": email, "password": NEW_PASSWORD, "name": "M"}),
            ("POST", "/api/auth/login", {"email": email, "password": NEW_PASSWORD}),
            ("POST", "/api/auth/resend-verification", {"email": email}),
        ]
        client = client_of(mover)
        seen = []
        for method, path, body in calls:
            with CaptureQueriesContext(connection) as captured:
                response = client.call(method, path, body or None)
            received = response.json()
            for key in ("id", "createdAt", "updatedAt", "email"):
                received.get("user", {}).pop(key, None)
            seen.append((response.status_code, received, len(captured)))
        outcomes.append(seen)
    assert outcomes[1] == outcomes[2]  # at first some queries are made that are remembered
    assert [status for status, _, _ in outcomes[1]] == [200, 200, 403, 201, 403, 200]
    send_mails()
    subjects = [message["Subject"] for message in mailbox.messages if message["To"] == "alice@example.org"]
    assert subjects == ["You already have an account"] * 2
    assert mailbox.tokens("alice@example.org", "verify-email") == []


@pytest.mark.parametrize(
    "spelling",
    [
        "ADA@bücher.example",
        "ada@BU\u0308CHER.example",  # decomposed, and in capitals
        "ada@xn--bcher-kva.example",
        "ada@XN--BCHER-KVA.EXAMPLE",
        "ada@ｂücher。example",  # full width, with an ideographic full stop
    ],
)
def test_all_spellings_of_an_address_are_the_same_account(spelling: str) -> None:
    verify_email(make_user("ada@bücher.example"))
    body = {"email": spelling, "password": PASSWORD, "name": "Ada"}
    Client().ok("POST", "/api/auth/register", body, status=400)
    assert profile(sign_in(spelling)) == ("ada@bücher.example", True)


def test_address_is_returned_in_normalized_spelling(alice: User) -> None:
    body = {"name": "Alice", "email": "Alice@XN--BCHER-KVA.example"}
    user = client_of(alice).ok("PUT", "/api/user/profile", body)["user"]
    assert user["email"] == "Alice@bücher.example"
    long = "ﷺ" * 3 + ".example"
    response = client_of(alice).ok(
        "PUT", "/api/user/profile", {**body, "email": f"{'a' * 60}@{'.'.join([long] * 11)}"}, status=400
    )
    assert response["details"][0]["field"] == "email"


def test_create_superuser_refuses_a_taken_address(alice: User) -> None:
    with pytest.raises(ValidationError):
        User.objects.create_superuser("ALICE@example.org", PASSWORD, name="Op")
    operator = User.objects.create_superuser("op@example.org", PASSWORD, name="Op")
    assert (operator.email_verified, operator.is_claimed) == (True, True)


@pytest.mark.both_databases
def test_an_unverified_account_is_deleted_after_thirty_days(mandatory_verification: None, settings: Any) -> None:
    make_user("operator@example.org", is_staff=True)
    verify_email(make_user("proven@example.org"))
    make_user("used@example.org", last_login=timezone.now())
    register("dead@example.org")
    with time_machine.travel(timezone.now() + dt.timedelta(days=29)):
        sweep_accounts()
    assert User.objects.count() == 4
    with time_machine.travel(timezone.now() + dt.timedelta(days=31)):
        settings.EMAIL_VERIFICATION = "optional"
        sweep_accounts()
        assert User.objects.count() == 4
        settings.EMAIL_VERIFICATION = "mandatory"
        sweep_accounts()
    assert not User.objects.filter(email="dead@example.org").exists()
    assert User.objects.count() == 3
    assert not registration.awaits_operator()


def test_registrations_are_rate_limited_per_client_network(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (registration.REGISTRATIONS.limit, registration.REGISTRATIONS.seconds) == (60, 3600)
    monkeypatch.setattr(registration, "REGISTRATIONS", RateLimit("registration", 2, 3600))
    settings.REGISTRATION = "closed"  # refused, but counted

    def send(address: str, **extra: str) -> Any:
        body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
        return Client().call("POST", "/api/auth/register", body, REMOTE_ADDR=address, **extra)

    assert [send(f"2001:db8::{number}").status_code for number in range(3)] == [403, 403, 429]
    refused = send("2001:db8::ffff")
    assert 3500 < int(refused["Retry-After"]) == refused.json()["retryAfter"] <= 3600
    assert send("2001:db8:0:1::1").status_code == 403
    assert [send("127.0.0.1").status_code for _ in range(3)] == [403] * 3
    settings.TRUSTED_PROXY_COUNT = 1
    assert send("127.0.0.1", HTTP_X_FORWARDED_FOR="2001:db8::1").status_code == 429
