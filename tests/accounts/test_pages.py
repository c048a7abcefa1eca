"""The pages that mailed links lead to."""

import re
from typing import Any
from urllib.parse import urlencode

from accounts.models import User
from accounts.services.mail import LinkPurpose, make_link_token
from tests.accounts.steps import NEW_PASSWORD
from tests.builders import PASSWORD
from tests.client import Client

FORM = "application/x-www-form-urlencoded"


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
