"""A 401 says for 120 days why a session or token has ended. Of each only a hash, the reason and the day are kept."""

import base64
import datetime as dt
import hashlib
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from typing import Any

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, EndedCredential, User
from accounts.services.deletion import delete_account
from accounts.services.operators import switch_off
from accounts.services.sessions import delete_expired_sessions
from people.trash import purge_deleted
from tests.builders import PASSWORD, make_person, make_token
from tests.client import Client

START = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def clock(db: None) -> Iterator[Any]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


def sign_in(user: User) -> Client:
    browser = Client()
    browser.ok("POST", "/api/auth/login", {"email": user.email, "password": PASSWORD})
    return browser


def copy_of(browser: Client) -> Client:
    """Another browser with the same cookies, as they are now."""
    copy = Client()
    copy.cookies = SimpleCookie({name: morsel.value for name, morsel in browser.cookies.items()})
    return copy


def reason_of(client: Client, path: str = "/api/people") -> str:
    response = client.call("GET", path)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    return str(response.json()["code"])


def sign_out(browser: Client, user: User) -> None:
    browser.ok("POST", "/api/auth/logout")


def sign_out_on_the_page(browser: Client, user: User) -> None:
    assert browser.post("/account/sign-out").status_code == 302


def sign_in_again(browser: Client, user: User) -> None:
    browser.ok("POST", "/api/auth/login", {"email": user.email, "password": PASSWORD})


def change_the_password(browser: Client, user: User) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": "Another-1843"}
    browser.ok("PUT", "/api/user/password", body)


def end_in_the_list(browser: Client, user: User) -> None:
    other = sign_in(user)
    sessions = other.ok("GET", "/api/user/sessions")["sessions"]
    for session in sessions:
        if not session["current"]:
            other.ok("DELETE", f"/api/user/sessions/{session['id']}")


def switch_the_account_off(browser: Client, user: User) -> None:
    switch_off(user=user, by=User.objects.get(email="mallory@example.org"))


def delete_with_the_password(browser: Client, user: User) -> None:
    browser.ok("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"})


ENDS: dict[Callable[[Client, User], None], str] = {
    sign_out: "session_revoked",
    sign_out_on_the_page: "session_revoked",
    sign_in_again: "session_revoked",
    change_the_password: "session_revoked",
    end_in_the_list: "session_revoked",
    switch_the_account_off: "session_revoked",
    delete_with_the_password: "account_deleted",
}


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_an_ended_session_says_why(alice: User, mallory: User, clock: Any, end: Callable[[Client, User], None]) -> None:
    if end is switch_the_account_off:
        User.objects.filter(pk=mallory.pk).update(is_staff=True, is_superuser=True)
    browser = sign_in(alice)
    stale = copy_of(browser)
    end(browser, alice)
    assert reason_of(stale) == ENDS[end]
    assert reason_of(stale, "/api/auth/session") == ENDS[end]  # not only the first request learns it
    clock.shift(dt.timedelta(days=120))
    assert reason_of(stale) == ENDS[end]
    clock.shift(dt.timedelta(days=1))
    assert reason_of(stale) == "unauthenticated"


def test_an_expired_session_says_so_before_and_after_the_sweep(alice: User, clock: Any) -> None:
    browser = sign_in(alice)
    clock.shift(dt.timedelta(days=30, seconds=1))
    assert reason_of(browser) == "session_expired"
    assert delete_expired_sessions(now=timezone.now()) == 1
    assert not Session.objects.exists()
    assert EndedCredential.objects.get().ended_on == dt.date(2026, 5, 31)
    assert reason_of(browser) == "session_expired"
    clock.shift(dt.timedelta(days=121))
    assert reason_of(browser) == "unauthenticated"


def test_the_sweep_of_django_records_expired_sessions_too(alice: User, clock: Any) -> None:
    browser = sign_in(alice)
    clock.shift(dt.timedelta(days=31))
    call_command("clearsessions")
    assert reason_of(browser) == "session_expired"


def test_a_revoked_token_says_so(alice: User, clock: Any) -> None:
    client, browser = Client(), sign_in(alice)
    client.bearer = make_token(alice)
    client.ok("GET", "/api/people")
    browser.ok("DELETE", f"/api/user/api-tokens/{ApiToken.unscoped.rows().get().pk}")
    assert reason_of(client) == "session_revoked"
    assert reason_of(client, "/api/people/00000000-0000-4000-8000-000000000000") == "session_revoked"
    assert client.call("POST", "/mcp", {}).json()["code"] == "session_revoked"
    clock.shift(dt.timedelta(days=121))
    assert reason_of(client) == "unauthenticated"


def test_an_expired_token_says_so_also_after_it_was_deleted(alice: User, clock: Any) -> None:
    client = Client()
    client.bearer = make_token(alice)
    ApiToken.unscoped.rows().update(expires_at=START + dt.timedelta(days=10))
    clock.shift(dt.timedelta(days=11))
    assert reason_of(client) == "session_expired"
    sign_in(alice).ok("DELETE", f"/api/user/api-tokens/{ApiToken.unscoped.rows().get().pk}")
    assert reason_of(client) == "session_expired"
    clock.shift(dt.timedelta(days=119))
    assert reason_of(client) == "session_expired"
    clock.shift(dt.timedelta(days=1))
    assert reason_of(client) == "unauthenticated"


def test_a_token_that_expired_long_ago_is_unknown(alice: User, clock: Any) -> None:
    client = Client()
    client.bearer = make_token(alice)
    ApiToken.unscoped.rows().update(expires_at=START)
    clock.shift(dt.timedelta(days=121))
    assert reason_of(client) == "unauthenticated"
    delete_account(user=alice)
    assert reason_of(client) == "unauthenticated"
    assert not EndedCredential.objects.exists()


def test_tokens_of_a_deleted_account_say_so(alice: User, clock: Any) -> None:
    client = Client()
    client.bearer = make_token(alice)
    delete_account(user=alice)
    assert reason_of(client) == "account_deleted"


def test_a_session_in_which_nobody_signed_in_is_not_recorded(alice: User, clock: Any) -> None:
    browser = Client()
    browser.get("/account/sign-in")
    session = browser.session
    session["next"] = "/"
    session.save()
    sign_in_again(browser, alice)
    assert not EndedCredential.objects.exists()
    browser.cookies["sessionid"] = "neverheardofthis0123456789abcdef"
    assert reason_of(browser) == "unauthenticated"


def test_only_hash_reason_and_day_are_kept(alice: User, clock: Any) -> None:
    browser = sign_in(alice)
    text, key = make_token(alice), browser.cookies["sessionid"].value
    delete_account(user=alice)
    rows = list(EndedCredential.objects.order_by("digest").values())
    digests = sorted(hashlib.sha256(secret.encode()).hexdigest() for secret in (text, key))
    assert rows == [{"digest": digest, "reason": "account_deleted", "ended_on": START.date()} for digest in digests]


def test_the_purge_removes_what_ended_120_days_ago(alice: User, clock: Any) -> None:
    sign_out(sign_in(alice), alice)
    assert purge_deleted(now=START + dt.timedelta(days=120))["ended credentials"] == 0
    assert purge_deleted(now=START + dt.timedelta(days=121))["ended credentials"] == 1
    assert not EndedCredential.objects.exists()


def test_a_changed_password_keeps_the_own_session_in_the_list(alice: User, clock: Any) -> None:
    browser = sign_in(alice)
    before = AccountSession.unscoped.rows().get()
    change_the_password(browser, alice)
    row = AccountSession.unscoped.rows().get()
    assert (row.pk, row.ip, row.created_at) == (before.pk, before.ip, before.created_at)
    assert row.session_key == browser.cookies["sessionid"].value != before.session_key


def test_devices_get_the_challenge_as_ever(alice: User, clock: Any) -> None:
    make_person(alice)
    text = make_token(alice)
    ApiToken.unscoped.rows().get().delete()
    never = ask_dav(alice, "cnt_" + "a" * 46)
    text = make_token(alice)
    delete_account(user=alice)
    ended = ask_dav(alice, text)
    assert (ended.status_code, ended.content, ended["WWW-Authenticate"]) == (
        401,
        never.content,
        never["WWW-Authenticate"],
    )


def ask_dav(user: User, password: str) -> Any:
    login = base64.b64encode(f"{user.email}:{password}".encode()).decode()
    return Client().get("/dav/", HTTP_AUTHORIZATION=f"Basic {login}")


@pytest.mark.parametrize("path", ["/account/sign-out", "/admin/logout/"])
def test_a_page_without_script_has_the_browser_remove_what_the_client_keeps(alice: User, clock: Any, path: str) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    response = sign_in(alice).post(path)
    assert response["Clear-Site-Data"] == '"storage", "cache"'
    assert response.cookies["sessionid"].value == ""


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("key", ['"a\\000bcdefghijklmnopqrstuvwxyz012345"', '"\\000"', "Ö" * 40, "a" * 5000, "x"])
def test_cookie_that_is_no_key_of_a_session_is_unknown(key: str) -> None:
    """PostgreSQL stores no NUL, which a browser may write as \\000."""
    for path in ("/api/people", "/api/auth/session", "/admin/", "/account/sign-in"):
        client = Client(HTTP_COOKIE=f"sessionid={key}")
        if path.startswith("/api"):
            assert reason_of(client, path) == "unauthenticated"
        else:
            assert client.get(path).status_code in {200, 302}
