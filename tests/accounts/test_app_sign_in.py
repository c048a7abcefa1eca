"""An app signs in through the provider: the browser returns to its redirect URI with a code, exchanged for a token."""

import base64
import datetime as dt
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pyotp
import pytest
import time_machine
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, AppCode, TotpDevice, User
from accounts.oidc.app_redirects import is_redirect_uri, is_registered
from accounts.pages.sign_in import _csp_source
from accounts.services.addresses import revoke_access
from accounts.services.tokens import purge_app_codes
from tests.accounts.test_pages import submit
from tests.builders import PASSWORD, make_user, verify_email
from tests.client import Client
from tests.concurrency import run_concurrently
from tests.oidc_provider import Provider, approve_sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

START, TOKEN, PAGE = "/api/auth/oidc/start", "/api/auth/oidc/token", "/account/sign-in/code"
LOOPBACK, OWN_SCHEME, CLAIMED = (
    "http://127.0.0.1/callback",
    "com.example.app:/back?from=us",
    "https://app.example.org/x",
)
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # of RFC 7636, appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
HTML = "text/html,*/*;q=0.8"


@pytest.fixture(autouse=True)
def registered_redirect_uris(settings: Any) -> None:
    settings.OIDC_APP_REDIRECT_URIS = [LOOPBACK, OWN_SCHEME, CLAIMED]


def start_sign_in(browser: Client, uri: str = "http://127.0.0.1:50123/callback", **changes: str | None) -> Any:
    """Open the start route in the browser, as the app does."""
    query = {
        "redirect_uri": uri,
        "state": "the app's & own",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    sent = urlencode({key: value for key, value in query.items() if value is not None})
    return browser.call("GET", f"{START}?{sent}", HTTP_ACCEPT=HTML)


def finish_sign_in(browser: Client, provider: Provider, **changes: Any) -> Any:
    """Start the sign-in and approve it at the provider; returns the response of the callback."""
    return browser.call(
        "GET", approve_sign_in(provider, start_sign_in(browser, **changes)["Location"]), HTTP_ACCEPT=HTML
    )


def redirect_parameters(response: Any) -> dict[str, str]:
    """The query of the redirect URI to which the browser returns."""
    assert response.status_code == 302
    return dict(parse_qsl(urlsplit(response["Location"]).query))


def exchange(code: str, *, client: Client | None = None, status: int = 201, **changes: Any) -> Any:
    body = {"code": code, "codeVerifier": VERIFIER, "name": "phone", **changes}
    return (client or Client()).ok("POST", TOKEN, body, status=status)


def device_of(made: Any) -> Client:
    device = Client()
    device.bearer = made["apiToken"]["token"]
    return device


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("uri", "prompt"),
    [("http://127.0.0.1:50123/callback", "select_account"), (OWN_SCHEME, "select_account"), (CLAIMED, None)],
)
def test_an_app_gets_a_token_of_its_device(browser: Client, provider: Provider, uri: str, prompt: str | None) -> None:
    started = start_sign_in(browser, uri)
    assert dict(parse_qsl(urlsplit(started["Location"]).query)).get("prompt") == prompt
    response = browser.call("GET", approve_sign_in(provider, started["Location"]), HTTP_ACCEPT=HTML)
    assert response["Location"].startswith(f"{uri}{'&' if '?' in uri else '?'}code=")
    assert response["Cache-Control"] == "no-store"
    body = redirect_parameters(response)
    assert body["state"] == "the app's & own"
    assert not AccountSession.unscoped.exists()
    browser.ok("GET", "/api/auth/session", status=401)
    assert body["code"] not in str(AppCode.unscoped.values_list("digest").get())
    made = exchange(body["code"], scope="READ")
    assert (made["apiToken"]["name"], made["apiToken"]["kind"], made["apiToken"]["scope"]) == (
        "phone",
        "device",
        "READ",
    )
    assert device_of(made).ok("GET", "/api/auth/session")["user"]["email"] == "ada@example.org"


def test_code_stays_valid_while_the_account_has_too_many_tokens(
    browser: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = redirect_parameters(finish_sign_in(browser, provider))["code"]
    with monkeypatch.context() as patch:
        patch.setattr("accounts.services.tokens.MAX_TOKENS", 0)
        for _ in range(11):
            assert exchange(code, status=409)["code"] == "too_many_tokens"
    exchange(code)


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/callback",
        "http://127.0.0.1/other",
        "http://127.0.0.1:80@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "http://localhost/callback",
        "http://127.0.0.1:50123/callback?more=1",
        "http://127.0.0.1:50123/callback#x",
        "https://app.example.org:444/x",
        "https://app.example.org/x/",
        "com.example.app:/back",
        "",
        None,
    ],
)
def test_unregistered_redirect_uris_are_refused(browser: Client, provider: Provider, uri: Any) -> None:
    page = start_sign_in(browser, redirect_uri=uri)
    assert (page.status_code, page["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert "Location" not in page
    assert not browser.cookies
    query = urlencode({"code_challenge": CHALLENGE, **({} if uri is None else {"redirect_uri": uri})})
    assert browser.ok("GET", f"{START}?{query}", status=400)["code"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    ("uri", "fits"),
    [
        ("http://[::1]/x", True),
        ("http://127.0.0.1", True),
        ("org.example:/x", True),
        ("http://app.example.org/x", False),
        ("javascript:alert(1)", False),
        ("myapp:/x", False),
        ("https://a@b.example/", False),
        ("https://app.example.org/a\\b", False),
        ("https://app.example.org/a b", False),
        ("https:///x", False),
    ],
)
def test_which_redirect_uris_can_be_registered(uri: str, fits: bool) -> None:
    assert is_redirect_uri(uri) is is_registered(uri, [uri]) is fits


@pytest.mark.parametrize(
    "change",
    [
        {"code_challenge": None},
        {"code_challenge": VERIFIER + "="},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"state": None},
        {"state": "ü"},
    ],
    ids=str,
)
def test_a_start_without_pkce_is_an_error(browser: Client, provider: Provider, change: Any) -> None:
    response = start_sign_in(browser, **change)
    assert redirect_parameters(response)["error"] == "invalid_request"
    assert response["Location"].startswith("http://127.0.0.1:50123/callback?")
    assert not provider.requested_paths


def test_errors_are_returned_to_the_redirect_uri(browser: Client, provider: Provider, settings: Any) -> None:
    state = dict(parse_qsl(urlsplit(start_sign_in(browser)["Location"]).query))["state"]
    denied = redirect_parameters(browser.call("GET", f"/api/auth/oidc/callback?error=access_denied&state={state}"))
    assert (denied["error"], denied["state"]) == ("access_denied", "the app's & own")
    settings.REGISTRATION = "closed"
    assert redirect_parameters(finish_sign_in(browser, provider))["error"] == "access_denied"
    forged = browser.call("GET", "/api/auth/oidc/callback?code=x&state=forged")
    assert (forged.status_code, forged.json()["code"]) == (400, "invalid_state")
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    assert redirect_parameters(start_sign_in(browser))["error"] == "temporarily_unavailable"
    assert not User.objects.exists()


@pytest.mark.both_databases
def test_code_needs_its_verifier_and_expires_after_a_minute(browser: Client, provider: Provider) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        code = redirect_parameters(finish_sign_in(browser, provider))["code"]
        for sent, verifier in ((code, CHALLENGE), ("x", VERIFIER)):
            assert exchange(sent, status=400, codeVerifier=verifier)["code"] == "invalid_grant"
        assert exchange(code, status=400, name="")["details"][0]["field"] == "name"
        clock.shift(60)
        assert exchange(code, status=400)["code"] == "invalid_grant"
        fresh = redirect_parameters(finish_sign_in(browser, provider))["code"]
        clock.shift(59)
        exchange(fresh)
        assert purge_app_codes(now=timezone.now()) == 0
        clock.shift(24 * 3600 + 60)
        assert purge_app_codes(now=timezone.now()) == 2
    assert ApiToken.unscoped.count() == 1


def test_a_second_exchange_revokes_the_token(browser: Client, provider: Provider) -> None:
    code = redirect_parameters(finish_sign_in(browser, provider))["code"]
    client = Client(HTTP_IDEMPOTENCY_KEY="once")
    device = device_of(exchange(code, client=client))
    exchange(code, status=400, codeVerifier=CHALLENGE)
    device.ok("GET", "/api/auth/session")
    assert exchange(code, client=client, status=400)["code"] == "invalid_grant"
    device.ok("GET", "/api/auth/session", status=401)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_concurrent_exchanges_of_a_code_return_one_token(browser: Client, provider: Provider) -> None:
    code = redirect_parameters(finish_sign_in(browser, provider))["code"]
    body = {"code": code, "codeVerifier": VERIFIER, "name": "phone"}
    responses = run_concurrently(*[lambda: Client().call("POST", TOKEN, body)] * 3)
    assert sorted(response.status_code for response in responses) == [201, 400, 400]


@pytest.mark.both_databases
def test_password_change_and_revocation_invalidate_codes(browser: Client, provider: Provider) -> None:
    code = redirect_parameters(finish_sign_in(browser, provider))["code"]
    user = User.objects.get()
    user.set_password(PASSWORD)
    user.save()
    exchange(code, status=400)
    other = redirect_parameters(finish_sign_in(browser, provider))["code"]
    revoke_access(user)
    exchange(other, status=400)


def test_wrong_codes_and_failed_logins_share_one_rate_limit(browser: Client, provider: Provider) -> None:
    code = redirect_parameters(finish_sign_in(browser, provider))["code"]
    guess = {"code": "x", "codeVerifier": VERIFIER, "name": "phone"}
    login = {"email": "nobody@example.org", "password": "Wrong-Horse-7"}
    sent = [(TOKEN, guess), ("/api/auth/login", login)] * 5
    assert [Client().call("POST", *each).status_code for each in sent] == [400, 401] * 5
    exchange(code, status=429)


def test_second_factor_is_asked_on_a_page_of_the_service(browser: Client, provider: Provider) -> None:
    ada = verify_email(make_user("ada@example.org"))
    device = TotpDevice.objects.create(owner=ada, secret=pyotp.random_base32(), confirmed_at=timezone.now())
    asked = finish_sign_in(browser, provider)
    assert (asked.status_code, asked["Location"]) == (302, PAGE)
    page = browser.get(PAGE)
    assert "form-action 'self' http:;" in page["Content-Security-Policy"]
    code = pyotp.TOTP(device.secret).at(timezone.now())
    refused = browser.ok("POST", "/api/auth/oidc/second-factor", {"code": code}, status=400)
    assert refused["code"] == "invalid_state"
    done = submit(browser, PAGE, page.content.decode(), code=code)
    exchange(redirect_parameters(done)["code"])
    assert not AccountSession.unscoped.exists()
    assert not browser.cookies["oidc_sign_in"].value


def test_challenge_constant_matches_the_verifier() -> None:
    digest = hashlib.sha256(VERIFIER.encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == CHALLENGE


@pytest.mark.parametrize(
    ("redirect_uri", "source"),
    [
        ("https://app.example.org/back", "https://app.example.org"),
        ("http://[::1]:4000/back", "http:"),
        ("org.example.app:/back", "org.example.app:"),
    ],
)
def test_form_action_policy_allows_only_the_app(redirect_uri: str, source: str) -> None:
    assert _csp_source(redirect_uri) == source
