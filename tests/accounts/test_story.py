"""The life of an account, from sign-up to deletion, over real SMTP and OIDC servers and a broker's task."""

from typing import Any

import pyotp
import pytest

from accounts.models import User
from accounts.tasks import sweep_account_mails
from tests.accounts.steps import NEW_PASSWORD
from tests.accounts.test_deletion import rows_of, tables_with
from tests.builders import PASSWORD
from tests.client import Client
from tests.mailbox import Mailbox
from tests.oidc_provider import approve_sign_in, oidc_provider, use_provider

EMAIL, NEW_EMAIL = "ada@example.org", "countess@example.org"

LOGIN = {"email": EMAIL, "password": PASSWORD}


class Browser(Client):
    """Keeps cookies and sends the CSRF token, as the script of a page does."""

    def __init__(self) -> None:
        super().__init__(enforce_csrf_checks=True)

    def act(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        token = self.ok("GET", "/api/auth/csrf")["csrfToken"]
        return self.ok(method, path, body, status=status, HTTP_X_CSRFTOKEN=token)


def add_second_factor(browser: Browser) -> tuple[Browser, list[str]]:
    """Enable TOTP; returns another browser that signed in with the first recovery code, and the codes."""
    totp = pyotp.TOTP(browser.act("POST", "/api/user/mfa/totp")["secret"])
    codes: list[str] = browser.act("POST", "/api/user/mfa/totp/confirm", {"code": totp.now()})["recoveryCodes"]
    phone = Browser()
    assert phone.ok("POST", "/api/auth/login", LOGIN, status=401)["code"] == "mfa_required"
    phone.ok("POST", "/api/auth/login", {**LOGIN, "code": codes[0]})
    return phone, codes


def sign_in_at_work(settings: Any, code: str) -> Browser:
    """Sign in through a provider that has verified the new address, and with a recovery code."""
    browser = Browser()
    with oidc_provider() as provider:
        use_provider(provider, settings)
        provider.claims["email"] = NEW_EMAIL
        back = approve_sign_in(provider, browser.call("GET", "/api/auth/oidc/start")["Location"])
        assert browser.ok("GET", back, status=401)["code"] == "mfa_required"
        browser.ok("POST", "/api/auth/oidc/second-factor", {"code": code})
    return browser


@pytest.mark.django_db
def test_from_sign_up_to_deletion(mailbox: Mailbox, settings: Any, tmp_path: Any) -> None:
    settings.EMAIL_VERIFICATION, settings.MEDIA_ROOT = "mandatory", tmp_path

    # Signing up: nothing opens before the address is verified.
    browser = Browser()
    body = {"email": EMAIL, "password": PASSWORD, "name": "Ada", "timezone": "Europe/London"}
    account = browser.ok("POST", "/api/auth/register", body, status=201)["user"]
    browser.ok("GET", "/api/auth/session", status=401)
    sweep_account_mails()
    browser.ok("POST", "/api/auth/verify-email", {"token": mailbox.last_token(), "password": PASSWORD})
    browser.ok("POST", "/api/auth/login", LOGIN)
    assert User.objects.get().is_superuser
    assert User.objects.get().date_reminder_default == "birthdays"

    # A second factor, and a second browser that needs it.
    phone, codes = add_second_factor(browser)
    assert len(browser.ok("GET", "/api/user/sessions")["sessions"]) == 2

    # Preferences, a token, somebody to remember.
    browser.act("PUT", "/api/user/theme", {"theme": "DARK"})
    token = browser.act("POST", "/api/user/api-tokens", {"name": "script"}, status=201)["apiToken"]["token"]
    script = Client()
    script.bearer = token
    script.ok("POST", "/api/people", {"name": "Charles", "surname": "Babbage"}, status=201)

    # A new password ends the other session, a forgotten one all of them and the token.
    change = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    browser.act("PUT", "/api/user/password", change)
    phone.ok("GET", "/api/auth/session", status=401)
    browser.ok("POST", "/api/auth/forgot-password", {"email": EMAIL})
    sweep_account_mails()
    reset = {"token": mailbox.last_token(), "password": PASSWORD}
    Browser().ok("POST", "/api/auth/reset-password", reset)
    browser.ok("GET", "/api/auth/session", status=401)
    script.ok("GET", "/api/people", status=401)
    browser.ok("POST", "/api/auth/login", {**LOGIN, "code": codes[1]})
    token = browser.act("POST", "/api/user/api-tokens", {"name": "script"}, status=201)["apiToken"]["token"]
    script.bearer = token

    # A new address is unverified until its mail is answered; then the organisation's provider vouches for it.
    response = browser.act("PUT", "/api/user/profile", {"name": "Ada", "email": NEW_EMAIL})
    assert (response["emailChanged"], response["user"]["emailVerified"]) == (True, False)
    sweep_account_mails()
    browser.ok("POST", "/api/auth/verify-email", {"token": mailbox.tokens(NEW_EMAIL, "verify-email")[0]})
    work = sign_in_at_work(settings, codes[2])
    assert work.ok("GET", "/api/auth/session")["user"]["id"] == account["id"]

    # Everything out, into another account, and the first one gone.
    document = script.ok("GET", "/api/user/export")
    heir = Browser()
    settings.EMAIL_VERIFICATION = "optional"
    heir.ok("POST", "/api/auth/register", {**body, "email": "heir@example.org"}, status=201)
    assert heir.act("POST", "/api/user/import", document)["errors"] == 0
    assert [person["surname"] for person in heir.ok("GET", "/api/people")["people"]] == ["Babbage"]
    assert heir.ok("GET", "/api/user/profile")["user"]["theme"] == "DARK"
    work.act("DELETE", "/api/user/delete", {"confirmationText": "DELETE"}, status=400)
    work.act("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"})
    for client in (work, browser, script):
        client.ok("GET", "/api/auth/session", status=401)
    assert rows_of(account["id"]) == {}
    assert tables_with(account["id"].replace("-", "")) == tables_with(NEW_EMAIL) == []
