"""Profile and password."""

from typing import Any

import pytest
from django.conf import settings

from accounts.models import User
from tests.accounts.steps import NEW_PASSWORD
from tests.builders import PASSWORD, verify_email
from tests.client import Client, client_of

pytestmark = pytest.mark.sqlite_suffices


def signed_in(user: User, password: str = PASSWORD) -> Client:
    client = Client()
    client.ok("POST", "/api/auth/login", {"email": user.email, "password": password})
    return client


@pytest.mark.both_databases
def test_names_change_and_omitted_fields_keep_their_values(api: Client) -> None:
    body = {"name": " Alma ", "surname": "Berg", "nickname": "Al", "email": "alice@example.org"}
    response = api.ok("PUT", "/api/user/profile", body)
    assert response["emailChanged"] is False
    assert [response["user"][key] for key in ("name", "surname", "nickname")] == ["Alma", "Berg", "Al"]
    body = {"name": "Alma", "surname": "", "email": "alice@example.org"}
    response = api.ok("PUT", "/api/user/profile", body)
    assert [response["user"][key] for key in ("surname", "nickname")] == [None, "Al"]


@pytest.mark.both_databases
def test_profile_can_be_sent_back_unchanged(api: Client) -> None:
    user = api.ok("GET", "/api/user/profile")["user"]
    again = api.ok("PUT", "/api/user/profile", user)["user"]
    assert {**again, "updatedAt": None} == {**user, "updatedAt": None}


def test_changed_address_is_unverified(api: Client, alice: User) -> None:
    verify_email(alice)
    assert api.ok("GET", "/api/user/profile")["user"]["emailVerified"] is True
    same = api.ok("PUT", "/api/user/profile", {"name": "Alice", "email": "ALICE@example.org"})
    assert (same["emailChanged"], same["user"]["emailVerified"]) == (False, True)
    other = api.ok("PUT", "/api/user/profile", {"name": "Alice", "email": "al@example.org"})
    assert (other["emailChanged"], other["user"]["emailVerified"]) == (True, False)
    assert other["user"]["email"] == "al@example.org"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "A"}, "email"),
        ({"email": "alice@example.org"}, "name"),
        ({"name": "", "email": "alice@example.org"}, "name"),
        ({"name": None, "email": "alice@example.org"}, "name"),
        ({"name": "A", "email": "nonsense"}, "email"),
        ({"name": "A", "email": "MALLORY@example.org"}, "email"),
        ({"name": "A", "email": "alice@example.org", "surname": 5}, "surname"),
        ({"name": "A\x00", "email": "alice@example.org"}, "name"),
    ],
)
def test_invalid_profiles_are_refused(api: Client, mallory: User, body: dict[str, Any], field: str) -> None:
    response = api.ok("PUT", "/api/user/profile", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]


def test_a_new_password_ends_every_other_session(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    here.ok("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})
    here.ok("GET", "/api/auth/session")
    there.ok("GET", "/api/auth/session", status=401)
    sessions = here.ok("GET", "/api/user/sessions")["sessions"]
    assert [session["current"] for session in sessions] == [True]
    signed_in(alice, NEW_PASSWORD)
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=401)


def test_a_token_may_change_the_password_and_ends_all_sessions(alice: User) -> None:
    browser = signed_in(alice)
    client_of(alice).ok("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})
    browser.ok("GET", "/api/auth/session", status=401)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"currentPassword": "Wrong-Horse-7", "newPassword": NEW_PASSWORD}, "currentPassword"),
        ({"newPassword": NEW_PASSWORD}, "currentPassword"),
        ({"currentPassword": PASSWORD}, "newPassword"),
        ({"currentPassword": PASSWORD, "newPassword": "weak"}, "newPassword"),
        ({"currentPassword": PASSWORD, "newPassword": "A" * 1001}, "newPassword"),
    ],
)
def test_invalid_password_changes_are_refused(api: Client, alice: User, body: dict[str, Any], field: str) -> None:
    response = api.ok("PUT", "/api/user/password", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]
    signed_in(alice)


def test_guessing_the_password_of_an_open_session_is_limited(api: Client) -> None:
    body = {"currentPassword": "Wrong-Horse-7", "newPassword": NEW_PASSWORD}
    statuses = [api.call("PUT", "/api/user/password", body).status_code for _ in range(11)]
    assert statuses == [400] * 10 + [429]


def test_an_account_without_a_password_cannot_change_it(api: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    response = api.ok(
        "PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}, status=400
    )
    assert response["details"][0]["field"] == "currentPassword"


def test_passwords_are_hashed_by_argon2() -> None:
    from contacts_project.settings import PASSWORD_HASHERS

    assert PASSWORD_HASHERS == ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    assert settings.AUTH_PASSWORD_VALIDATORS


def test_failed_logins_of_others_do_not_block_a_password_change(api: Client, alice: User) -> None:
    for host in range(11):
        body = {"email": alice.email, "password": "Wrong-Horse-7"}
        Client().call("POST", "/api/auth/login", body, REMOTE_ADDR=f"203.0.113.{host}")
    api.ok("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})
