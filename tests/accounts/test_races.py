"""Concurrent requests: one operator, one account for an address, one use of a token or code."""

from collections.abc import Callable
from typing import Any

import pyotp
import pytest
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, EmailChange, RecoveryCode, TotpDevice, User
from accounts.services.mail import LinkPurpose, make_link_token, make_take_back_token
from accounts.services.second_factor import _digest, consume_code
from tests.accounts.steps import NEW_PASSWORD
from tests.accounts.test_oidc import sign_in
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.oidc_provider import Provider

pytestmark = pytest.mark.django_db(transaction=True)


def register(email: str) -> int:
    body = {"email": email, "password": PASSWORD, "name": "Ada"}
    return int(Client().call("POST", "/api/auth/register", body).status_code)


def test_concurrent_registrations_create_one_operator() -> None:
    statuses = run_concurrently(*(lambda number=number: register(f"a{number}@example.org") for number in range(4)))
    assert statuses == [201] * 4
    assert User.objects.filter(is_superuser=True, is_staff=True).count() == 1


def test_concurrent_registrations_create_one_account_if_only_the_first_is_allowed(settings: Any) -> None:
    settings.REGISTRATION = "first"
    statuses = run_concurrently(*(lambda number=number: register(f"a{number}@example.org") for number in range(4)))
    assert sorted(statuses) == [201, 403, 403, 403]
    assert User.objects.count() == 1


def test_concurrent_registrations_create_one_account_per_address() -> None:
    statuses = run_concurrently(lambda: register("ada@example.org"), lambda: register("ADA@EXAMPLE.ORG"))
    assert sorted(statuses) == [201, 400]


def test_reset_link_sets_one_password() -> None:
    token = make_link_token(make_user("ada@example.org"), LinkPurpose.RESET)

    def reset(password: str) -> int:
        body = {"token": token, "password": password}
        return int(Client().call("POST", "/api/auth/reset-password", body).status_code)

    assert sorted(run_concurrently(lambda: reset(NEW_PASSWORD), lambda: reset("Third-Horse-9"))) == [200, 400]


def test_recovery_code_is_accepted_once() -> None:
    user = make_user("ada@example.org")
    TotpDevice.objects.create(owner=user, secret=pyotp.random_base32(), confirmed_at=timezone.now())
    RecoveryCode.objects.create(owner=user, digest=_digest(user, "ABCD-EFGH-JKLM"))
    spend = [lambda: consume_code(user=user, code="abcd-efgh-jklm", now=timezone.now())] * 3
    assert sorted(run_concurrently(*spend)) == [False, False, True]


def test_concurrent_guesses_are_limited_to_ten() -> None:
    make_user("ada@example.org")

    def guess() -> int:
        body = {"email": "ada@example.org", "password": "Wrong-Horse-7"}
        return int(Client().call("POST", "/api/auth/login", body, REMOTE_ADDR="203.0.113.7").status_code)

    statuses = run_concurrently(*[guess] * 14)
    assert sorted(statuses) == [401] * 10 + [429] * 4


def test_code_completes_one_sign_in_through_the_provider(provider: Provider) -> None:
    user = verify_email(make_user("ada@example.org"))
    secret = pyotp.random_base32()
    TotpDevice.objects.create(owner=user, secret=secret, confirmed_at=timezone.now())
    browsers = [Client() for _ in range(3)]
    for browser in browsers:
        sign_in(browser, provider)
    body = {"code": pyotp.TOTP(secret).now()}
    path = "/api/auth/oidc/second-factor"
    calls = [lambda browser=browser: browser.call("POST", path, body).status_code for browser in browsers]
    assert sorted(run_concurrently(*calls)) == [200, 401, 401]


def test_an_account_is_deleted_once() -> None:
    user = make_user("ada@example.org")
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(user)
    body = {"password": PASSWORD, "confirmationText": "DELETE"}
    calls = [lambda client=client: client.call("DELETE", "/api/user/delete", body).status_code for client in clients]
    assert sorted(run_concurrently(*calls)) in ([200, 401], [200, 200])
    assert not User.objects.exists()


def verify(account: User, signed_in: bool = False) -> Callable[[], int]:
    """A callable that opens the verification link of the account, if `signed_in` in an existing session."""
    client, token = Client(), make_link_token(account, LinkPurpose.VERIFY)
    if signed_in:
        client.force_login(account)
    return lambda: int(client.call("POST", "/api/auth/verify-email", {"token": token}).status_code)


def change(account: User, email: str) -> Callable[[], int]:
    client, body = client_of(account), {"name": "Ada", "email": email}
    return lambda: int(client.call("PUT", "/api/user/profile", body).status_code)


def test_concurrent_verifications_give_an_address_to_one_account(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    verify_email(make_user("own@example.org"))
    claims = [make_user("ada@example.org") for _ in range(2)]
    moving = User.objects.get(email="own@example.org")
    change(moving, "ada@example.org")()
    moving.refresh_from_db()
    statuses = run_concurrently(*(verify(account) for account in claims), verify(moving, signed_in=True))
    assert min(statuses) == 200
    assert all(status in {400, 401} for status in sorted(statuses)[1:])
    holder = User.objects.get(proven_email="ada@example.org")
    assert not User.objects.filter(email="ada@example.org").exclude(pk=holder.pk).exists()


def test_reset_and_change_of_address_do_not_both_succeed() -> None:
    """The attacker has a session and the new mailbox, the owner the old one."""
    owner = verify_email(make_user("ada@example.org"))
    change(owner, "attacker@example.net")()
    owner.refresh_from_db()
    reset = {"token": make_link_token(owner, LinkPurpose.RESET), "password": NEW_PASSWORD}
    statuses = run_concurrently(
        verify(owner, signed_in=True),
        lambda: Client().call("POST", "/api/auth/reset-password", reset).status_code,
    )
    assert statuses in ([200, 400], [401, 200])
    owner.refresh_from_db()
    assert owner.proven_email == ("attacker@example.net" if statuses[0] == 200 else "ada@example.org")


def test_take_back_wins_over_a_concurrent_verification() -> None:
    owner = verify_email(make_user("ada@example.org"))
    change(owner, "attacker@example.net")()
    owner.refresh_from_db()
    body = {"token": make_take_back_token(EmailChange.objects.owned_by(owner).get())}
    statuses = run_concurrently(
        verify(owner, signed_in=True),
        lambda: Client().call("POST", "/api/auth/take-back-email", body).status_code,
    )
    assert statuses in ([200, 200], [400, 200], [401, 200])
    owner.refresh_from_db()
    assert (owner.email, owner.proven_email) == ("ada@example.org", "ada@example.org")
    assert not AccountSession.unscoped.exists()


@pytest.mark.parametrize(("verification", "expected"), [("optional", 1), ("mandatory", 2)])
def test_registering_and_changing_to_an_address_at_once(settings: Any, verification: str, expected: int) -> None:
    settings.EMAIL_VERIFICATION = verification
    account = make_user("ada@example.org")
    statuses = run_concurrently(change(account, "new@example.org"), lambda: register("New@example.org"))
    assert sum(status in {200, 201} for status in statuses) == expected
    assert User.objects.with_email("new@example.org").count() == expected


def test_reset_leaves_no_device_token_created_concurrently() -> None:
    owner = verify_email(make_user("ada@example.org"))
    reset = {"token": make_link_token(owner, LinkPurpose.RESET), "password": NEW_PASSWORD}
    device = {"email": "ada@example.org", "password": PASSWORD, "name": "phone"}
    statuses = run_concurrently(
        lambda: Client().call("POST", "/api/auth/token", device).status_code,
        lambda: Client().call("POST", "/api/auth/reset-password", reset).status_code,
    )
    assert statuses in ([201, 200], [401, 200])
    assert not ApiToken.unscoped.exists()


def test_reset_leaves_no_token_created_concurrently() -> None:
    owner = verify_email(make_user("ada@example.org"))
    browser = Client()
    browser.force_login(owner)
    reset = {"token": make_link_token(owner, LinkPurpose.RESET), "password": NEW_PASSWORD}
    statuses = run_concurrently(
        lambda: browser.call("POST", "/api/user/api-tokens", {"name": "x"}).status_code,
        lambda: Client().call("POST", "/api/auth/reset-password", reset).status_code,
    )
    assert statuses in ([201, 200], [401, 200])
    assert not ApiToken.unscoped.exists()
