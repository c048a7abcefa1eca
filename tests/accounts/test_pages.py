"""The pages without script: sign-in, and where mailed links lead."""

import re
from typing import Any
from urllib.parse import urlencode

import pyotp
import pytest
from django.utils import timezone

from accounts.models import AccountSession, TotpDevice, User
from accounts.services.mail import LinkPurpose, make_link_token
from tests.accounts.steps import NEW_PASSWORD
from tests.builders import PASSWORD
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices

FORM = "application/x-www-form-urlencoded"
PATH = "/account/sign-in"


def submit(browser: Client, path: str, page: str, **fields: str) -> Any:
    """Submit the form of the page as a browser does, with its CSRF token."""
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found
    body = urlencode({**fields, "csrfmiddlewaretoken": found[1]})
    return browser.generic("POST", path, body, FORM)


def test_button_verifies_the_address_and_opening_the_link_does_not(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    path = f"/account/verify-email?token={make_link_token(alice, LinkPurpose.VERIFY)}"
    page = browser.call("GET", path)
    assert page.status_code == 200
    # With no-referrer browsers post the form with `Origin: null`, and the CSRF check refuses it.
    assert page["Referrer-Policy"] == "same-origin"
    alice.refresh_from_db()
    assert not alice.email_verified
    assert submit(browser, path, page.content.decode()).status_code == 200
    alice.refresh_from_db()
    assert alice.email_verified
    assert browser.call("GET", path).status_code == 400


def test_reset_page_is_in_the_language_of_the_account(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(language="de-DE")
    browser = Client(enforce_csrf_checks=True)
    path = f"/account/reset-password?token={make_link_token(alice, LinkPurpose.RESET)}"
    page = browser.call("GET", path).content.decode()
    assert "Neues Passwort" in page
    weak = submit(browser, path, page, password="weak").content.decode()
    assert 'class="problem"' in weak
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    # Signing in is what last_login tells, and no reason for a link to stop working.
    done = submit(browser, path, weak, password=NEW_PASSWORD)
    assert 'href="/account/sign-in"' in done.content.decode()
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": NEW_PASSWORD})


def test_form_without_csrf_token_is_refused(alice: User) -> None:
    path = f"/account/reset-password?token={make_link_token(alice, LinkPurpose.RESET)}"
    response = Client(enforce_csrf_checks=True).generic("POST", path, f"password={NEW_PASSWORD}", FORM)
    assert (response.status_code, response.json()["code"]) == (403, "csrf")


def test_used_or_forged_link_shows_an_error(alice: User) -> None:
    for path in (
        "/account/verify-email?token=x",
        "/account/reset-password",
        "/account/verify-email?token=",
        "/account/take-back?token=x",
    ):
        assert Client().call("GET", path).status_code == 400


def sign_in(browser: Client, target: str = "/", **fields: str) -> Any:
    """Open the sign-in page with `target` as the next page, and submit its form."""
    page = browser.get(f"{PATH}?{urlencode({'next': target})}").content.decode()
    return submit(browser, PATH, page, **{"next": target, "email": "alice@example.org", "password": PASSWORD, **fields})


def test_sign_in_redirects_to_the_next_page(browser: Client, alice: User) -> None:
    wrong = sign_in(browser, "/account/x", password="Wrong-Horse-7")
    assert (wrong.status_code, "known_device" in wrong.cookies) == (403, False)
    assert 'value="alice@example.org"' in wrong.content.decode()
    assert "Wrong-Horse-7" not in wrong.content.decode()
    response = sign_in(browser, "/account/x?y=1")
    assert (response.status_code, response["Location"]) == (302, "/account/x?y=1")
    assert "known_device" in response.cookies
    assert AccountSession.objects.owned_by(alice).count() == 1
    assert browser.get(f"{PATH}?next=/account/x")["Location"] == "/account/x"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x", ""])
def test_next_outside_the_service_is_ignored(browser: Client, alice: User, target: str) -> None:
    assert sign_in(browser, target)["Location"] == "/"


def test_page_asks_for_the_second_factor(browser: Client, alice: User) -> None:
    secret = pyotp.random_base32()
    TotpDevice.objects.create(owner=alice, secret=secret, confirmed_at=timezone.now())
    asked = sign_in(browser)
    assert (asked.status_code, "sessionid" in asked.cookies) == (403, False)
    assert 'name="code"' in asked.content.decode()
    assert 'name="code"' in sign_in(browser, code="000000").content.decode()
    assert sign_in(browser, code=pyotp.TOTP(secret).now())["Location"] == "/"


def test_page_shares_the_rate_limit_of_the_api(browser: Client, alice: User) -> None:
    statuses = {sign_in(browser, password="Wrong-Horse-7").status_code for _ in range(10)}
    refused = sign_in(browser)
    assert (statuses, refused.status_code) == ({403}, 429)
    assert int(refused["Retry-After"]) > 0
    login = {"email": alice.email, "password": PASSWORD}
    assert Client().ok("POST", "/api/auth/login", login, status=429)["code"] == "rate_limited"


def test_a_form_of_another_site_neither_signs_in_nor_out(browser: Client, alice: User) -> None:
    fields = urlencode({"email": alice.email, "password": PASSWORD})
    assert browser.generic("POST", PATH, fields, FORM).status_code == 403
    sign_in(browser)
    assert browser.generic("POST", "/account/sign-out", "", FORM).status_code == 403
    assert browser.get(PATH).status_code == 302


def test_page_is_in_the_browsers_language_and_offers_the_provider(browser: Client, settings: Any) -> None:
    page = browser.get(f"{PATH}?next=/people/1", HTTP_ACCEPT_LANGUAGE="nb,en;q=0.5").content.decode()
    assert '<html lang="nb-NO">' in page
    assert "Logg inn" in page
    assert "/api/auth/oidc/start" not in page
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = "https://id.example.org", "contacts"
    settings.OIDC_NAME = "<Home>"
    page = browser.get(f"{PATH}?next=/people/1").content.decode()
    assert 'href="/api/auth/oidc/start?next=%2Fpeople%2F1"' in page
    assert "Sign in with &lt;Home&gt;" in page
