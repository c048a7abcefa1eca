"""Sign-in through a provider to an account that has a second factor."""

import datetime as dt
from typing import Any

import pyotp
import pytest
import time_machine
from django.utils import timezone

from accounts.models import KnownDevice, OidcIdentity, TotpDevice, User
from tests.accounts.steps import NEW_PASSWORD
from tests.accounts.test_oidc import sign_in
from tests.accounts.test_pages import submit
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client
from tests.oidc_provider import Provider, approve_sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]
CODE, PAGE = "/api/auth/oidc/second-factor", "/account/sign-in/code"


@pytest.fixture
def ada() -> User:
    """The account whose address the provider has verified; it has a second factor."""
    ada = verify_email(make_user("ada@example.org"))
    TotpDevice.objects.create(owner=ada, secret=pyotp.random_base32(), confirmed_at=timezone.now())
    return ada


def code_of(user: User) -> str:
    """The current code of the authenticator app."""
    return pyotp.TOTP(TotpDevice.objects.owned_by(user).get().secret).at(timezone.now())


def test_a_client_is_asked_for_the_code(browser: Client, provider: Provider, ada: User) -> None:
    asked = sign_in(browser, provider)
    assert (asked.status_code, asked.json()["code"]) == (401, "mfa_required")
    browser.ok("GET", "/api/auth/session", status=401)
    assert not OidcIdentity.unscoped.exists()
    browser.ok("POST", CODE, {}, status=400)
    assert browser.ok("POST", CODE, {"code": "abc"}, status=401)["code"] == "invalid_credentials"
    browser.ok("GET", "/api/auth/session", status=401)
    assert browser.ok("POST", CODE, {"code": code_of(ada)})["user"]["id"] == str(ada.pk)
    assert browser.ok("GET", "/api/auth/session")["user"]["id"] == str(ada.pk)
    assert OidcIdentity.objects.owned_by(ada).count() == KnownDevice.objects.owned_by(ada).count() == 1
    assert sign_in(Client(), provider).status_code == 401  # each time


def test_a_browser_is_asked_on_a_page(browser: Client, provider: Provider, ada: User) -> None:
    started = browser.get("/api/auth/oidc/start?next=/people?x=1")
    came_back = browser.get(approve_sign_in(provider, started["Location"]), HTTP_ACCEPT="text/html,*/*;q=0.8")
    assert (came_back.status_code, came_back["Location"]) == (302, PAGE)
    page = browser.get(PAGE)
    assert (page.status_code, page["WWW-Authenticate"]) == (401, "Bearer")
    wrong = submit(browser, PAGE, page.content.decode(), code="abc")
    assert wrong.status_code == 401
    assert "The code is wrong." in wrong.content.decode()
    done = submit(browser, PAGE, wrong.content.decode(), code=f" {code_of(ada)} ")
    assert (done.status_code, done["Location"]) == (302, "/people?x=1")
    browser.ok("GET", "/api/auth/session")
    assert browser.get(PAGE)["Location"] == "/account/sign-in"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("amr", "status"),
    [
        (["pwd", "otp"], 302),
        (["mfa"], 302),
        (["face", "hwk"], 302),
        (["pwd"], 401),
        (["pwd", "pin"], 401),
        (["otp"], 401),
        ([["mfa"], {"mfa": 1}, None], 401),
        ("mfa", 401),
        ({"mfa": True}, 401),
        (None, 401),
    ],
    ids=str,
)
def test_no_code_is_asked_if_the_provider_has_checked_one(
    browser: Client, provider: Provider, ada: User, amr: Any, status: int
) -> None:
    provider.claims["amr"] = amr
    assert sign_in(browser, provider).status_code == status


def test_second_factor_claimed_only_by_userinfo_is_ignored(browser: Client, provider: Provider, ada: User) -> None:
    provider.claims = {"sub": "u-1"}
    provider.userinfo = {"sub": "u-1", "email": ada.email, "email_verified": True, "amr": ["mfa"]}
    assert sign_in(browser, provider).status_code == 401


def test_a_sign_in_that_waits_for_the_code_expires(browser: Client, provider: Provider, ada: User) -> None:
    """It ends after ten minutes or with a new password, and exists in this browser only; a code works once."""
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        sign_in(browser, provider)
        cookie, code = browser.cookies["oidc_sign_in"].value, code_of(ada)
        assert Client().ok("POST", CODE, {"code": code}, status=400)["code"] == "invalid_state"
        browser.ok("POST", CODE, {"code": code})
        browser.cookies["oidc_sign_in"] = cookie
        assert browser.ok("POST", CODE, {"code": code}, status=401)["code"] == "invalid_credentials"
        clock.shift(601)
        assert browser.ok("POST", CODE, {"code": code_of(ada)}, status=400)["code"] == "invalid_state"
        again = Client()
        sign_in(again, provider)
        ada.set_password(NEW_PASSWORD)
        ada.save()
        assert again.ok("POST", CODE, {"code": code_of(ada)}, status=400)["code"] == "invalid_state"


@pytest.mark.both_databases
def test_flow_cookie_is_not_accepted_as_a_pending_sign_in(browser: Client, provider: Provider, ada: User) -> None:
    browser.get("/api/auth/oidc/start")
    browser.cookies["oidc_sign_in"] = browser.cookies["oidc_flow"].value
    assert browser.ok("POST", CODE, {"code": code_of(ada)}, status=400)["code"] == "invalid_state"


def test_code_guesses_are_limited_to_ten_over_all_browsers(provider: Provider, ada: User) -> None:
    statuses = []
    for _ in range(3):
        guesser = Client()
        sign_in(guesser, provider)
        statuses += [guesser.call("POST", CODE, {"code": "abc"}).status_code for _ in range(5)]
    assert statuses == [401] * 10 + [429] * 5
    refused = guesser.call("POST", CODE, {"code": code_of(ada)})
    assert refused.status_code == 429
    page = guesser.get(PAGE).content.decode()
    assert "Too many attempts" in submit(guesser, PAGE, page, code="abc").content.decode()
    login = {"email": ada.email, "password": PASSWORD, "code": code_of(ada)}
    Client().ok("POST", "/api/auth/login", login)  # the way by password stays open


def test_session_from_the_provider_cannot_disable_the_second_factor(
    browser: Client, provider: Provider, ada: User
) -> None:
    provider.claims["amr"] = ["mfa"]
    sign_in(browser, provider)
    csrf = browser.ok("GET", "/api/auth/csrf")["csrfToken"]
    refused = browser.ok("DELETE", "/api/user/mfa/totp", status=403, HTTP_X_CSRFTOKEN=csrf)
    assert refused["code"] == "proof_required"


def test_strict_session_cookie_is_set_by_a_page_that_redirects(
    browser: Client, provider: Provider, settings: Any
) -> None:
    """Browsers withhold a SameSite=Strict cookie on redirects that another site has started."""
    settings.SESSION_COOKIE_SAMESITE = "Strict"
    response = sign_in(browser, provider, "?next=/people%3Fx=%22%3E")
    assert response.status_code == 200
    assert 'content="0; url=/people?x=&quot;&gt;"' in response.content.decode()
    assert response.cookies["sessionid"]["samesite"] == "Strict"
    assert {response.cookies[name]["samesite"] for name in ("known_device", "oidc_flow")} == {"Lax"}


def test_unconfirmed_callbacks_are_rate_limited(browser: Client, provider: Provider) -> None:
    state = approve_sign_in(provider, browser.get("/api/auth/oidc/start")["Location"]).partition("&state=")[2]
    guess = f"/api/auth/oidc/callback?code=x&state={state}"
    assert [browser.call("GET", guess).status_code for _ in range(11)] == [401] * 10 + [429]
    assert provider.requested_paths.count("/token") == 10
