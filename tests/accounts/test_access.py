"""Register, sign in, sign out, through the API with a session cookie."""

from typing import Any

import pytest
from django.test import override_settings

from accounts.models import AccountSession, User
from accounts.services import sign_in
from tests.builders import PASSWORD, make_user
from tests.client import Client

BODY = {"email": "Ada@Example.org", "password": PASSWORD, "name": "Ada"}

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def csrf(browser: Client) -> dict[str, Any]:
    return {"HTTP_X_CSRFTOKEN": browser.ok("GET", "/api/auth/csrf")["csrfToken"]}


def test_registration_signs_in_and_logout_signs_out(browser: Client) -> None:
    user = browser.ok("POST", "/api/auth/register", {**BODY, "nickname": "", "timezone": "Europe/Oslo"}, status=201)[
        "user"
    ]
    assert user["email"] == "Ada@example.org"
    assert (user["name"], user["nickname"], user["timezone"], user["emailVerified"]) == (
        "Ada",
        None,
        "Europe/Oslo",
        False,
    )
    assert browser.ok("GET", "/api/auth/session")["user"] == user
    assert browser.ok("POST", "/api/auth/logout", **csrf(browser)) == {"success": True}
    assert browser.call("GET", "/api/auth/session").status_code == 401
    assert not AccountSession.unscoped.exists()


def test_defaults_of_a_new_account(browser: Client) -> None:
    user = browser.ok("POST", "/api/auth/register", BODY, status=201)["user"]
    assert {key: user[key] for key in DEFAULTS} == DEFAULTS


DEFAULTS: dict[str, Any] = {
    "theme": "LIGHT",
    "dateFormat": "YMD",
    "nameOrder": "WESTERN",
    "nameDisplayFormat": "FULL",
    "nameSort": "GIVEN",
    "savedLists": [],
    "mePersonId": None,
    "graphMode": "individuals",
    "language": "en",
    "geocodingEnabled": False,
    "defaultReminderLeadDays": 0,
    "weeklyDigestEnabled": False,
    "weeklyDigestWeekday": 1,
    "timezone": "UTC",
    "reminderHour": 9,
    "leapDayRule": "FEB28",
    "quietHours": None,
    "photo": None,
}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de", "de-DE"),
        ("de-AT,de;q=0.9,en;q=0.8", "de-DE"),
        ("pt-BR, fr;q=0.5", "fr-FR"),
        ("no", "nb-NO"),
        ("nn-NO", "nb-NO"),
        ("en;q=0.1, ja", "ja-JP"),
        ("zz", "en"),
        (";;,=", "en"),
    ],
)
def test_language_is_negotiated_from_accept_language(browser: Client, header: str, language: str) -> None:
    response = browser.ok("POST", "/api/auth/register", BODY, status=201, HTTP_ACCEPT_LANGUAGE=header)
    assert response["user"]["language"] == language


def test_language_in_the_body_overrides_accept_language(browser: Client) -> None:
    response = browser.ok(
        "POST", "/api/auth/register", {**BODY, "language": "es-ES"}, status=201, HTTP_ACCEPT_LANGUAGE="de"
    )
    assert response["user"]["language"] == "es-ES"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"email": "no address"}, "email"),
        ({"email": "bad\n@example.org"}, "email"),
        ({"email": "\uff4ba@example.org"}, "email"),  # a wide k; the Kelvin sign is K in NFC
        ({"email": f"a@{'ü' * 60}.example"}, "email"),  # too long a label in ASCII: no mail reaches it
        ({"email": "=?utf-8?q?alice?=@example.org"}, "email"),  # mails would go to alice@example.org
        ({"email": None}, "email"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"password": "short-A1"[:7]}, "password"),
        ({"password": "lower-case-7"}, "password"),
        ({"password": "UPPER-CASE-7"}, "password"),
        ({"password": "No-Number-here"}, "password"),
        ({"password": "NoSpecial7character"}, "password"),
        ({"password": 12345678}, "password"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"language": "xx"}, "language"),
    ],
)
def test_invalid_registrations_are_refused(browser: Client, change: dict[str, Any], field: str) -> None:
    response = browser.ok("POST", "/api/auth/register", {**BODY, **change}, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]
    assert not User.objects.exists()


@pytest.mark.parametrize("password", ["Password1!", "P@ssw0rd", "Ada-1815", "ada@example.org-A1"])
def test_passwords_that_meet_only_the_documented_rules_are_accepted(browser: Client, password: str) -> None:
    browser.ok("POST", "/api/auth/register", {**BODY, "password": password}, status=201)


@pytest.mark.both_databases
def test_only_the_first_account_becomes_operator(browser: Client) -> None:
    browser.ok("POST", "/api/auth/register", BODY, status=201)
    browser.ok("POST", "/api/auth/register", {**BODY, "email": "bo@example.org"}, status=201)
    operators = User.objects.filter(is_staff=True, is_superuser=True)
    assert [user.email for user in operators] == ["Ada@example.org"]


def test_registration_modes(browser: Client) -> None:
    second = {**BODY, "email": "bo@example.org"}
    with override_settings(REGISTRATION="closed"):
        assert browser.ok("POST", "/api/auth/register", BODY, status=403)["code"] == "registration_closed"
    with override_settings(REGISTRATION="first"):
        browser.ok("POST", "/api/auth/register", BODY, status=201)
        assert browser.ok("POST", "/api/auth/register", second, status=403)["code"] == "registration_closed"


def test_registration_with_a_taken_address_in_other_case_is_400(browser: Client, alice: User) -> None:
    response = browser.ok("POST", "/api/auth/register", {**BODY, "email": "ALICE@example.ORG"}, status=400)
    assert response["details"][0]["field"] == "email"


def test_mandatory_verification_does_not_reveal_that_an_address_is_taken(browser: Client, alice: User) -> None:
    with override_settings(EMAIL_VERIFICATION="mandatory"):
        new = browser.ok("POST", "/api/auth/register", BODY, status=201)
        taken = browser.ok("POST", "/api/auth/register", {**BODY, "email": "alice@example.org"}, status=201)
    for response, email in ((new, "Ada@example.org"), (taken, "alice@example.org")):
        assert response["user"].pop("email") == email
        for key in ("id", "createdAt", "updatedAt"):
            assert response["user"].pop(key)
    assert new == taken
    assert browser.call("GET", "/api/auth/session").status_code == 401
    alice.refresh_from_db()
    assert alice.name == "Alice"


def test_sign_in_ignores_the_case_of_the_address(browser: Client, alice: User) -> None:
    user = browser.ok("POST", "/api/auth/login", {"email": "ALICE@Example.org", "password": PASSWORD})["user"]
    assert user["id"] == str(alice.pk)
    assert browser.ok("GET", "/api/auth/session")["user"]["id"] == str(alice.pk)


@pytest.mark.parametrize("email", ["alice@example.org", "nobody@example.org"])
def test_wrong_credentials_are_401(browser: Client, alice: User, email: str) -> None:
    response = browser.call("POST", "/api/auth/login", {"email": email, "password": "Wrong-Horse-7"})
    assert response.status_code == 401
    assert response.json()["code"] == "invalid_credentials"
    assert response["WWW-Authenticate"] == "Bearer"


def test_inactive_account_cannot_sign_in(browser: Client) -> None:
    make_user("off@example.org", is_active=False)
    browser.ok("POST", "/api/auth/login", {"email": "off@example.org", "password": PASSWORD}, status=401)


def test_unverified_address_is_reported_only_with_the_right_password(browser: Client, alice: User) -> None:
    with override_settings(EMAIL_VERIFICATION="mandatory"):
        right = browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=403)
        wrong = browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": "Wrong-1"}, status=401)
    assert (right["code"], wrong["code"]) == ("email_unverified", "invalid_credentials")


def test_unknown_and_known_addresses_take_the_same_number_of_hashes(
    browser: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def count(password: str, encoded: str) -> bool:
        checked.append(encoded)
        return False

    monkeypatch.setattr(sign_in, "is_password", count)
    for email in (alice.email, "nobody@example.org"):
        browser.ok("POST", "/api/auth/login", {"email": email, "password": PASSWORD}, status=401)
    assert len(checked) == 4


@pytest.mark.both_databases
def test_client_ip_is_read_behind_the_trusted_proxies(browser: Client, alice: User) -> None:
    def address(forwarded: str) -> str:
        client = Client()
        body = {"email": alice.email, "password": PASSWORD}
        client.ok("POST", "/api/auth/login", body, HTTP_X_FORWARDED_FOR=forwarded, REMOTE_ADDR="10.0.0.1")
        return str(AccountSession.unscoped.rows().latest("created_at").ip)

    assert address("203.0.113.7") == "10.0.0.1"
    with override_settings(TRUSTED_PROXY_COUNT=1):
        assert address("192.0.2.66, 203.0.113.7") == "203.0.113.7"
    with override_settings(TRUSTED_PROXY_COUNT=2):
        assert address("192.0.2.66, 203.0.113.7, 10.0.0.2") == "203.0.113.7"
        assert address("not an address, 10.0.0.2") == ""
        assert address("203.0.113.7:4711, 10.0.0.2") == "203.0.113.7"
        assert address("[2001:db8::7]:4711, 10.0.0.2") == "2001:db8::7"
        assert address(f"fe80::1%{'x' * 100}, 10.0.0.2") == "fe80::1"


def test_session_write_needs_the_csrf_token(browser: Client) -> None:
    browser.ok("POST", "/api/auth/register", BODY, status=201)
    assert browser.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=403)["code"] == "csrf"
    browser.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201, **csrf(browser))


@pytest.mark.both_databases
def test_sign_in_rotates_the_session_and_signs_out_the_previous_user(browser: Client, alice: User) -> None:
    browser.ok("POST", "/api/auth/register", BODY, status=201)
    former = browser.cookies["sessionid"].value
    browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    assert browser.cookies["sessionid"].value != former
    assert [row.owner_id for row in AccountSession.unscoped.rows()] == [alice.pk]
    cookie = browser.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
