"""Sessions are listed with details that identify the device, and can be ended."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AccountSession, User
from accounts.services.sessions import delete_expired_sessions
from tests.builders import PASSWORD
from tests.client import Client, client_of


def sign_in(user: User, agent: str = "Firefox") -> Client:
    client = Client()
    body = {"email": user.email, "password": PASSWORD}
    client.ok("POST", "/api/auth/login", body, HTTP_USER_AGENT=agent, REMOTE_ADDR="203.0.113.9")
    return client


def test_sessions_are_listed(alice: User, mallory: User) -> None:
    _phone, laptop = sign_in(alice, "Phone"), sign_in(alice, "Laptop")
    sign_in(mallory)
    sessions = laptop.ok("GET", "/api/user/sessions")["sessions"]
    assert {session["userAgent"]: session["current"] for session in sessions} == {"Phone": False, "Laptop": True}
    assert {session["ip"] for session in sessions} == {"203.0.113.9"}
    assert set(sessions[0]) == {"id", "createdAt", "lastUsedAt", "userAgent", "ip", "current"}
    assert not any(session["current"] for session in client_of(alice).ok("GET", "/api/user/sessions")["sessions"])


def test_a_session_is_ended_at_once(alice: User) -> None:
    phone, laptop = sign_in(alice, "Phone"), sign_in(alice, "Laptop")
    other = next(session for session in laptop.ok("GET", "/api/user/sessions")["sessions"] if not session["current"])
    assert laptop.ok("DELETE", f"/api/user/sessions/{other['id']}") == {"success": True}
    phone.ok("GET", "/api/auth/session", status=401)
    laptop.ok("DELETE", f"/api/user/sessions/{other['id']}", status=404)


def test_the_session_of_a_stranger_is_404(alice: User, mallory: User) -> None:
    browser = sign_in(alice)
    session = browser.ok("GET", "/api/user/sessions")["sessions"][0]
    sign_in(mallory).ok("DELETE", f"/api/user/sessions/{session['id']}", status=404)
    browser.ok("GET", "/api/auth/session")


def test_last_use_is_written_once_a_minute(alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        browser = sign_in(alice)
        uses = []
        for _ in range(4):
            browser.ok("GET", "/api/auth/session")
            uses.append(AccountSession.unscoped.rows().get().last_used_at)
            clock.shift(40)
    assert uses[0] == uses[1] < uses[2]


def test_expired_sessions_are_not_listed_and_are_deleted(alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        sign_in(alice)
        clock.shift(dt.timedelta(days=31))
        assert client_of(alice).ok("GET", "/api/user/sessions") == {"sessions": []}
        assert AccountSession.unscoped.rows().count() == 1
        assert delete_expired_sessions(now=timezone.now()) == 1
        assert delete_expired_sessions(now=timezone.now()) == 0
        assert AccountSession.unscoped.rows().count() == 0


@pytest.mark.both_databases
def test_session_ends_thirty_days_after_its_last_use(alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        used, idle = sign_in(alice, "Used"), sign_in(alice, "Idle")
        for _ in range(3):
            clock.shift(dt.timedelta(days=29))
            used.ok("GET", "/api/auth/session")
        idle.ok("GET", "/api/auth/session", status=401)
        assert [row["userAgent"] for row in used.ok("GET", "/api/user/sessions")["sessions"]] == ["Used"]
        clock.shift(dt.timedelta(days=31))
        used.ok("GET", "/api/auth/session", status=401)


def test_session_is_renewed_daily_at_most_with_its_cookie(alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        browser, renewals = sign_in(alice), []
        key = browser.cookies["sessionid"].value
        for _ in range(30):
            clock.shift(dt.timedelta(hours=2))
            response = browser.call("GET", "/api/auth/session")
            if cookie := response.cookies.get("sessionid"):
                renewals.append((cookie.value, cookie["max-age"], cookie["httponly"], cookie["samesite"]))
    assert renewals == [(key, 30 * 24 * 3600, True, "Lax")] * 2


def test_signing_out_is_not_undone_by_a_renewal(alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        browser = sign_in(alice)
        clock.shift(dt.timedelta(days=2))
        response = browser.call("POST", "/api/auth/logout")
        assert response.status_code == 200
        assert response.cookies["sessionid"].value == ""
