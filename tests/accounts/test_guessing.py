"""Password guessing is limited, and the limit does not lock out the owner of the account."""

import datetime as dt

import pytest
import time_machine
from django.test import override_settings

from accounts.models import AccountSession, KnownDevice, User
from accounts.services import sign_in
from accounts.services.mail import LinkPurpose, make_link_token
from tests.accounts.steps import NEW_PASSWORD
from tests.builders import PASSWORD
from tests.client import Client

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


@pytest.fixture
def browser() -> Client:
    """A client without CSRF checks: these tests post forms without fetching them first."""
    return Client()


def login(client: Client, user: User, password: str = PASSWORD, address: str = "127.0.0.1") -> int:
    body = {"email": user.email, "password": password}
    return int(client.call("POST", "/api/auth/login", body, REMOTE_ADDR=address).status_code)


def fail(client: Client, email: str, times: int, address: str = "203.0.113.1") -> list[int]:
    body = {"email": email, "password": "Wrong-Horse-7"}
    return [client.call("POST", "/api/auth/login", body, REMOTE_ADDR=address).status_code for _ in range(times)]


def test_client_address_is_blocked_after_ten_failures(browser: Client, alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        for number in range(10):
            assert fail(browser, f"guess{number}@example.org", 1) == [401]
        response = browser.call(
            "POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, REMOTE_ADDR="203.0.113.1"
        )
        assert response.status_code == 429
        assert 890 < int(response["Retry-After"]) == response.json()["retryAfter"] <= 901
        browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, REMOTE_ADDR="203.0.113.2")
        clock.shift(16 * 60)
        browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, REMOTE_ADDR="203.0.113.1")


def test_account_is_blocked_after_fifty_failures_except_for_sign_in_devices(browser: Client, alice: User) -> None:
    own = Client()
    own.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    for host in range(1, 6):
        assert fail(browser, "Alice@Example.org", 10, f"203.0.113.{host}") == [401] * 10
    assert fail(browser, "Alice@Example.org", 1, "203.0.113.6") == [429]
    stranger = Client()
    body = {"email": alice.email, "password": PASSWORD}
    assert stranger.call("POST", "/api/auth/login", body, REMOTE_ADDR="203.0.113.99").status_code == 429
    own.ok("POST", "/api/auth/login", body, REMOTE_ADDR="203.0.113.77")


def test_failures_at_one_address_do_not_lock_out_a_new_device_elsewhere(browser: Client, alice: User) -> None:
    """The address is blocked; ten more attempts there, which are refused, do not count against the account."""
    assert fail(browser, alice.email, 60) == [401] * 10 + [429] * 50
    for host in range(4):
        assert login(Client(), alice, address=f"192.0.2.{host}") == 200


def test_the_limit_of_an_account_ends_although_others_go_on(browser: Client, alice: User) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        for host in range(5):
            fail(browser, alice.email, 10, f"203.0.113.{host}")
        for minute in range(14):
            clock.shift(60)
            assert fail(browser, alice.email, 2, f"198.51.100.{minute}") == [429, 429]
            assert login(Client(), alice, address="192.0.2.1") == 429
        clock.shift(61)
        assert login(Client(), alice, address="192.0.2.1") == 200


@pytest.mark.both_databases
def test_successful_sign_ins_are_not_rate_limited(alice: User) -> None:
    for _ in range(12):
        Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})


def test_ipv4_callers_of_a_dual_stack_socket_are_distinguished(browser: Client, alice: User) -> None:
    """A server on [::] sees IPv4 addresses as ::ffff:203.0.113.1, which all are in one /64."""
    for number in range(10):
        assert fail(browser, f"guess{number}@example.org", 1, "::ffff:203.0.113.1") == [401]
    body = {"email": alice.email, "password": PASSWORD}
    assert browser.call("POST", "/api/auth/login", body, REMOTE_ADDR="203.0.113.1").status_code == 429
    browser.ok("POST", "/api/auth/login", body, REMOTE_ADDR="::ffff:203.0.113.2")
    assert AccountSession.unscoped.rows().get().ip == "203.0.113.2"


def test_guesses_with_several_device_cookies_share_one_limit(alice: User) -> None:
    browsers = [Client() for _ in range(3)]
    assert [login(browser, alice) for browser in browsers] == [200] * 3
    statuses = [fail(browsers[number % 3], alice.email, 1, f"203.0.113.{number}")[0] for number in range(11)]
    assert statuses == [401] * 10 + [429]


@pytest.mark.both_databases
def test_browser_keeps_its_device_cookie_and_an_account_has_a_limited_number(
    browser: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "MAX_DEVICES", 3)
    login(browser, alice)
    device_cookie = browser.cookies["known_device"].value
    for _ in range(3):
        login(Client(), alice)
    login(browser, alice)
    assert KnownDevice.unscoped.rows().count() == 3
    assert browser.cookies["known_device"].value != device_cookie  # the oldest of four had gone
    device_cookie = browser.cookies["known_device"].value
    login(browser, alice)
    assert browser.cookies["known_device"].value == device_cookie


@pytest.mark.both_databases
def test_device_cookie_is_random_and_not_stored_in_plain_text(browser: Client, alice: User) -> None:
    login(browser, alice)
    cookie = browser.cookies["known_device"]
    assert cookie["httponly"]
    assert len(cookie.value) == 43
    assert cookie.value not in str(list(KnownDevice.unscoped.rows().values()))


def test_device_cookie_is_valid_only_for_its_account(browser: Client, alice: User, mallory: User) -> None:
    login(browser, mallory)
    device_cookie = browser.cookies["known_device"].value
    assert fail(browser, alice.email, 10, "127.0.0.1") == [401] * 10
    assert login(browser, alice) == 429
    assert login(browser, mallory) == 200
    assert browser.cookies["known_device"].value == device_cookie


def test_failures_at_the_same_address_do_not_block_a_sign_in_device(browser: Client, alice: User) -> None:
    login(browser, alice)
    assert fail(Client(), "nobody@example.org", 11, "127.0.0.1")[-1] == 429
    assert login(browser, alice) == 200


@pytest.mark.parametrize("is_page", [False, True], ids=["api", "page"])
def test_browser_that_reset_the_password_is_not_blocked(browser: Client, alice: User, is_page: bool) -> None:
    former = Client()
    login(former, alice)
    fail(former, alice.email, 11)
    for address in ("127.0.0.1", *(f"198.51.100.{host}" for host in range(4))):
        fail(Client(), alice.email, 10, address)
    token = make_link_token(alice, LinkPurpose.RESET)
    if is_page:
        page = f"/account/reset-password?token={token}"
        browser.post(page, f"password={NEW_PASSWORD}", content_type="application/x-www-form-urlencoded")
    else:
        browser.ok("POST", "/api/auth/reset-password", {"token": token, "password": NEW_PASSWORD})
    assert login(browser, alice, NEW_PASSWORD) == 200
    assert login(former, alice, NEW_PASSWORD) == 429
    assert login(Client(), alice, NEW_PASSWORD, "203.0.113.1") == 429


def test_attempts_on_a_blocked_account_do_not_block_the_caller(browser: Client, alice: User, mallory: User) -> None:
    for number in range(50):
        fail(browser, alice.email, 1, f"203.0.113.{number}")
    assert fail(browser, alice.email, 12, "192.0.2.1") == [429] * 12
    assert login(browser, mallory, address="192.0.2.1") == 200


@pytest.mark.parametrize("proxies", [0, 1])
def test_forged_x_forwarded_for_does_not_evade_the_limit(browser: Client, alice: User, proxies: int) -> None:
    def guess(number: int, forwarded: str) -> int:
        body = {"email": f"guess{number}@example.org", "password": "Wrong-Horse-7"}
        return int(browser.call("POST", "/api/auth/login", body, HTTP_X_FORWARDED_FOR=forwarded).status_code)

    hop = ", 203.0.113.9" if proxies else ""  # what the trusted proxy adds
    with override_settings(TRUSTED_PROXY_COUNT=proxies):
        statuses = [guess(number, f"192.0.2.{number}{hop}") for number in range(11)]
        assert statuses == [401] * 10 + [429]
        assert guess(11, "203.0.113.10") == (401 if proxies else 429)
