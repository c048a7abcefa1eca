"""Two-factor sign-in: TOTP and recovery codes, each used once."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pyotp
import pytest
import time_machine
from django.db import connection

from accounts.models import RecoveryCode, User
from tests.builders import PASSWORD
from tests.client import Client, client_of

pytestmark = pytest.mark.sqlite_suffices

PROOF = {"password": PASSWORD}
NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def clock() -> Iterator[Any]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def browser(alice: User, clock: Any) -> Client:
    client = Client()
    client.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    return client


def switch_on(browser: Client) -> tuple[pyotp.TOTP, list[str]]:
    started = browser.ok("POST", "/api/user/mfa/totp")
    totp = pyotp.TOTP(started["secret"])
    assert started["otpauthUrl"].startswith("otpauth://totp/")
    codes = browser.ok("POST", "/api/user/mfa/totp/confirm", {"code": totp.now()})["recoveryCodes"]
    return totp, codes


def login(user: User, code: str | None = None) -> Any:
    body = {"email": user.email, "password": PASSWORD}
    return Client().call("POST", "/api/auth/login", body if code is None else {**body, "code": code})


def code_of(response: Any) -> str:
    return str(response.json().get("code"))


def test_a_code_is_required_once_totp_is_enabled(browser: Client, alice: User) -> None:
    totp, _ = switch_on(browser)
    assert browser.ok("GET", "/api/user/profile")["user"]["mfaEnabled"] is True
    without = login(alice)
    assert (without.status_code, code_of(without)) == (401, "mfa_required")
    wrong = login(alice, "000000" if totp.now() != "000000" else "000001")
    assert (wrong.status_code, code_of(wrong)) == (401, "invalid_credentials")
    assert login(alice, totp.now()).status_code == 200


def test_no_code_is_required_before_totp_is_confirmed(browser: Client, alice: User) -> None:
    browser.ok("POST", "/api/user/mfa/totp")
    browser.ok("POST", "/api/user/mfa/totp/confirm", {"code": "abc"}, status=400)
    assert login(alice).status_code == 200


def test_code_of_a_used_or_earlier_time_step_is_refused(browser: Client, alice: User, clock: Any) -> None:
    totp, _ = switch_on(browser)
    clock.shift(60)
    now = totp.now()
    assert login(alice, now).status_code == 200
    assert login(alice, now).status_code == 401
    assert login(alice, totp.at(NOON + dt.timedelta(seconds=30))).status_code == 401
    clock.shift(30)
    assert login(alice, totp.now()).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(-30, 200), (30, 200), (-60, 401), (60, 401)])
def test_clocks_may_differ_by_one_time_step(browser: Client, alice: User, seconds: int, status: int) -> None:
    totp, _ = switch_on(browser)
    assert login(alice, totp.at(NOON + dt.timedelta(seconds=seconds))).status_code == status


def test_recovery_code_works_once_in_any_spelling(browser: Client, alice: User) -> None:
    _, codes = switch_on(browser)
    assert len(set(codes)) == 10
    assert login(alice, codes[0]).status_code == 200
    assert login(alice, codes[0]).status_code == 401
    assert login(alice, codes[1].replace("-", " ").lower()).status_code == 200


def test_new_recovery_codes_replace_the_old(browser: Client, alice: User) -> None:
    _, old = switch_on(browser)
    new = browser.ok("POST", "/api/user/mfa/recovery-codes", PROOF)["recoveryCodes"]
    assert login(alice, old[0]).status_code == 401
    assert login(alice, new[0]).status_code == 200


@pytest.mark.both_databases
def test_secret_and_codes_are_not_readable_in_the_database(browser: Client) -> None:
    totp, codes = switch_on(browser)
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM accounts_totpdevice")
        assert totp.secret not in str(cursor.fetchall())
    assert not set(RecoveryCode.unscoped.values_list("digest", flat=True)) & set(codes)


@pytest.mark.both_databases
def test_no_code_is_required_after_disabling_totp(browser: Client, alice: User) -> None:
    switch_on(browser)
    assert browser.ok("DELETE", "/api/user/mfa/totp", PROOF) == {"success": True}
    assert login(alice).status_code == 200
    assert not RecoveryCode.unscoped.exists()


@pytest.mark.parametrize("path", ["totp", "recovery-codes"])
def test_a_session_alone_neither_disables_totp_nor_creates_codes(browser: Client, path: str) -> None:
    totp, (_, spare, *_) = switch_on(browser)
    method = "DELETE" if path == "totp" else "POST"
    for body in (None, {}, {"password": None}, {"password": "Wrong-1"}, {"code": "abc"}):
        assert browser.ok(method, f"/api/user/mfa/{path}", body, status=403)["code"] == "proof_required"
    assert browser.ok("GET", "/api/user/profile")["user"]["mfaEnabled"] is True
    browser.ok(method, f"/api/user/mfa/{path}", {"code": totp.now() if path == "totp" else spare})


def test_wrong_proofs_share_one_rate_limit(browser: Client) -> None:
    switch_on(browser)
    for number in range(10):
        body = {"password": "Wrong-1"} if number % 2 else {"code": "abc"}
        browser.ok("DELETE", "/api/user/mfa/totp", body, status=403)
    browser.ok("POST", "/api/user/mfa/recovery-codes", PROOF, status=429)


def test_old_session_needs_a_proof_to_set_up_totp(browser: Client, clock: Any) -> None:
    clock.shift(16 * 60)
    assert browser.ok("POST", "/api/user/mfa/totp", status=403)["code"] == "proof_required"
    browser.ok("POST", "/api/user/mfa/totp", PROOF)


@pytest.mark.parametrize("body", [[], {"code": ""}, {"password": 1}])
def test_fresh_session_must_send_a_valid_body(browser: Client, body: Any) -> None:
    browser.ok("POST", "/api/user/mfa/totp", body, status=400)
    browser.ok("POST", "/api/user/mfa/totp", {"password": None})


def test_setup_can_be_repeated_until_it_is_confirmed(browser: Client) -> None:
    first = browser.ok("POST", "/api/user/mfa/totp")
    second = browser.ok("POST", "/api/user/mfa/totp")
    assert first["secret"] != second["secret"]
    code = pyotp.TOTP(second["secret"]).now()
    browser.ok("POST", "/api/user/mfa/totp/confirm", {"code": code})
    assert browser.ok("POST", "/api/user/mfa/totp", status=400)["code"] == "mfa_enabled"
    assert browser.ok("POST", "/api/user/mfa/totp/confirm", {"code": code}, status=400)["code"] == "mfa_enabled"


def test_guessing_codes_is_limited(browser: Client, alice: User) -> None:
    switch_on(browser)
    statuses = [login(alice, "not a code").status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]


def test_token_cannot_change_the_second_factor(alice: User) -> None:
    for method, path in (("POST", "totp"), ("DELETE", "totp"), ("POST", "recovery-codes")):
        response = client_of(alice).ok(method, f"/api/user/mfa/{path}", status=403)
        assert response["code"] == "session_required"


def test_recovery_codes_and_confirmation_need_a_set_up(browser: Client) -> None:
    assert browser.ok("POST", "/api/user/mfa/recovery-codes", PROOF, status=400)["code"] == "mfa_not_enabled"
    code = {"code": "000000"}
    assert browser.ok("POST", "/api/user/mfa/totp/confirm", code, status=400)["code"] == "mfa_not_enabled"
