"""A password is one, whether its umlaut was typed composed (NFC) or decomposed (NFD)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import hashers
from django.core.management import call_command

from accounts import passwords
from accounts.models import User
from accounts.services.mail import LinkPurpose, make_link_token
from contacts_project.kernel.text_forms import nfc, normal_form
from tests.accounts.steps import register, sign_in
from tests.builders import PASSWORD, verify_email
from tests.client import Client, client_of

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

COMPOSED = nfc("Grüße-an-7")
DECOMPOSED = normal_form("NFD", COMPOSED)
SPELLINGS = pytest.mark.parametrize(("one", "other"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])


def store_as_before(user: User, password: str) -> None:
    """The hash that a version without normal forms has stored."""
    user.password = hashers.make_password(password)
    user.save(update_fields=["password"])


@SPELLINGS
@pytest.mark.both_databases
def test_an_account_signs_in_with_either_spelling(one: str, other: str) -> None:
    register("uta@example.org", one)
    sign_in("uta@example.org", one)
    sign_in("uta@example.org", other)
    sign_in("uta@example.org", other.replace("7", "8"), status=401)


@SPELLINGS
def test_a_changed_password_takes_either_spelling(alice: User, one: str, other: str) -> None:
    session = sign_in(alice.email)
    session.ok("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": one})
    session.ok("PUT", "/api/user/password", {"currentPassword": other, "newPassword": other + "!"})
    sign_in(alice.email, one + "!")


@SPELLINGS
def test_a_password_set_by_a_mailed_link_takes_either_spelling(alice: User, one: str, other: str) -> None:
    token = make_link_token(alice, LinkPurpose.RESET)
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": one})
    sign_in(alice.email, other)
    token = make_link_token(User.objects.get(pk=alice.pk), LinkPurpose.RESET)
    page = Client().post(f"/account/reset-password?token={token}", {"password": other + "!"})
    assert page.status_code == 200
    sign_in(alice.email, one + "!")


@SPELLINGS
def test_an_operator_made_at_the_command_line_signs_in_with_either_spelling(
    monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", one)
    call_command("createsuperuser", email="op@example.org", name="Op", interactive=False, verbosity=0)
    sign_in("op@example.org", other)


def test_a_password_changed_at_the_command_line_takes_either_spelling(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_email(alice)  # by its natural key
    monkeypatch.setattr("getpass.getpass", lambda prompt: DECOMPOSED)
    call_command("changepassword", alice.email, verbosity=0)
    sign_in(alice.email, COMPOSED)


def test_a_hash_of_before_is_matched_by_the_text_as_typed(alice: User) -> None:
    store_as_before(alice, DECOMPOSED)
    session = sign_in(alice.email, DECOMPOSED)
    sign_in(alice.email, COMPOSED + "!", status=401)
    session.ok("PUT", "/api/user/password", {"currentPassword": DECOMPOSED, "newPassword": DECOMPOSED + "!"})
    sign_in(alice.email, COMPOSED + "!")


def test_a_hash_of_before_proves_a_second_factor_and_a_deletion(alice: User) -> None:
    store_as_before(alice, DECOMPOSED)
    session = sign_in(alice.email, DECOMPOSED)
    session.ok("POST", "/api/user/mfa/totp", {})
    body = {"password": DECOMPOSED, "confirmationText": "DELETE"}
    client_of(alice).ok("DELETE", "/api/user/delete", body)


def test_the_rules_count_what_is_hashed(api: Client) -> None:
    """A decomposed accent is neither a special character nor an eighth one."""
    for weak in ("Grüßean77", "Grü-e77"):
        body = {"currentPassword": PASSWORD, "newPassword": normal_form("NFD", weak)}
        response = api.ok("PUT", "/api/user/password", body, status=400)
        assert [detail["field"] for detail in response["details"]] == ["newPassword"]


def count_hashes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    counted: list[str] = []

    def spy(encode: Callable[..., str]) -> Callable[..., str]:
        def counting(self: Any, password: str, *args: Any, **kwargs: Any) -> str:
            counted.append(password)
            return encode(self, password, *args, **kwargs)

        return counting

    hasher = type(hashers.get_hasher())
    monkeypatch.setattr(hasher, "encode", spy(hasher.encode))
    return counted


def test_unknown_and_known_addresses_take_as_many_hashes_for_either_spelling(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = count_hashes(monkeypatch)
    numbers = {}
    for email in (alice.email, "nobody@example.org"):
        for password in (COMPOSED, DECOMPOSED):
            counted.clear()
            sign_in(email, password, status=401)
            numbers[email, password == COMPOSED] = len(counted)
    assert numbers[alice.email, True] == numbers["nobody@example.org", True] == 2
    assert numbers[alice.email, False] == numbers["nobody@example.org", False] == 4


def test_a_text_longer_than_a_password_is_not_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of a page has no limit of length, and normalizing a long run of accents is quadratic."""
    text = "u" + "\u0308" * passwords.MAX_PASSWORD_LENGTH
    assert passwords.normalize_password(text) is text
