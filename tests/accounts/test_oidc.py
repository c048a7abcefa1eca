"""Sign-in through a provider on loopback that checks PKCE, client and redirect URI."""

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import time_machine
from joserfc.jwk import RSAKey

from accounts.models import ApiToken, OidcIdentity, User
from tests.builders import PASSWORD, make_token, make_user, verify_email
from tests.client import Client
from tests.oidc_provider import CLIENT_SECRET, Provider, approve_sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def sign_in(browser: Client, provider: Provider, query: str = "") -> Any:
    """Go through the whole flow; returns the response of the callback."""
    started = browser.call("GET", f"/api/auth/oidc/start{query}")
    assert started.status_code == 302, started.content
    return browser.call("GET", approve_sign_in(provider, started["Location"]), HTTP_ACCEPT_LANGUAGE="fr")


def failed_sign_in(browser: Client, provider: Provider) -> tuple[int, str]:
    response = sign_in(browser, provider)
    assert browser.call("GET", "/api/auth/session").status_code == 401
    return response.status_code, response.json().get("code")


def test_a_first_sign_in_creates_an_account_from_the_claims(browser: Client, provider: Provider) -> None:
    provider.claims.update(family_name="Lovelace", locale="de_AT", zoneinfo="Europe/Vienna")
    response = sign_in(browser, provider, "?next=/people?x=1")
    assert (response.status_code, response["Location"]) == (302, "/people?x=1")
    user = browser.ok("GET", "/api/auth/session")["user"]
    assert (user["email"], user["emailVerified"], user["hasPassword"]) == ("ada@example.org", True, False)
    assert (user["name"], user["surname"]) == ("Ada", "Lovelace")
    assert (user["language"], user["timezone"]) == ("de-DE", "Europe/Vienna")
    assert user["dateReminderDefault"] == "birthdays"
    assert len(browser.ok("GET", "/api/user/sessions")["sessions"]) == 1


@pytest.mark.both_databases
def test_account_is_identified_by_subject_not_by_address(browser: Client, provider: Provider) -> None:
    sign_in(browser, provider)
    first = browser.ok("GET", "/api/auth/session")["user"]["id"]
    provider.claims.update(email="other@example.org", email_verified=False)
    again = Client()
    assert sign_in(again, provider).status_code == 302
    assert again.ok("GET", "/api/auth/session")["user"]["id"] == first
    assert OidcIdentity.unscoped.rows().count() == 1


def test_verified_address_links_the_account_and_keeps_its_password(
    browser: Client, provider: Provider, alice: User
) -> None:
    verify_email(alice)
    provider.claims["email"] = "ALICE@example.org"
    sign_in(browser, provider)
    assert browser.ok("GET", "/api/auth/session")["user"]["id"] == str(alice.pk)
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})


def test_the_registrant_of_a_foreign_address_loses_access(browser: Client, provider: Provider, alice: User) -> None:
    """Alice's address was never verified: whoever set the password may not be the person whom the provider verified."""
    squatter = Client()
    squatter.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    make_token(alice)
    provider.claims["email"] = alice.email
    sign_in(browser, provider)
    user = browser.ok("GET", "/api/auth/session")["user"]
    assert (user["id"], user["emailVerified"], user["hasPassword"]) == (str(alice.pk), True, False)
    squatter.ok("GET", "/api/auth/session", status=401)
    squatter.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=401)
    assert not ApiToken.unscoped.exists()


def test_an_unverified_claim_falls_back_to_the_verified_address(browser: Client, provider: Provider) -> None:
    """Mallory signs in through the provider, changes to Alice's address without verifying it, and waits for Alice."""
    provider.claims.update(sub="mallory", email="mallory@example.org")
    mallory = Client()
    sign_in(mallory, provider)
    mallory.ok("PUT", "/api/user/profile", {"name": "Mallory", "email": "alice@example.org"})
    provider.claims.update(sub="alice", email="alice@example.org")
    sign_in(browser, provider)
    account = browser.ok("GET", "/api/auth/session")["user"]["id"]
    assert mallory.ok("GET", "/api/auth/session")["user"]["email"] == "mallory@example.org"
    provider.claims.update(sub="mallory", email="mallory@example.org")
    sign_in(mallory, provider)
    assert mallory.ok("GET", "/api/auth/session")["user"]["id"] != account


@pytest.mark.both_databases
@pytest.mark.parametrize("verified", [False, None, "false", 1])
def test_an_unverified_address_links_nothing(browser: Client, provider: Provider, alice: User, verified: Any) -> None:
    provider.claims.update(email=alice.email, email_verified=verified)
    assert failed_sign_in(browser, provider) == (403, "email_unverified")
    assert not OidcIdentity.unscoped.exists()


def test_the_address_may_come_from_userinfo_of_the_same_subject(browser: Client, provider: Provider) -> None:
    provider.claims = {"sub": "u-1"}
    provider.userinfo = {"sub": "u-2", "email": "eve@example.org", "email_verified": True}
    assert failed_sign_in(browser, provider) == (401, "oidc_refused")
    provider.userinfo = {"sub": "u-1", "email": "ada@example.org", "email_verified": True, "name": "Ada L."}
    sign_in(browser, provider)
    assert browser.ok("GET", "/api/auth/session")["user"]["name"] == "Ada L."


@pytest.mark.one_database
@pytest.mark.parametrize(
    "claims",
    [
        {"email": "ada@example.org"},
        {"email": "ada@example.org", "email_verified": None},
        {"email": "ada@example.org", "email_verified": ""},
        {"email": "", "email_verified": True},
        {"email": None},
        {"email_verified": True},
    ],
    ids=str,
)
def test_userinfo_completes_an_id_token_without_address_or_its_verification(
    browser: Client, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.claims = {"sub": "u-1", **claims}
    provider.userinfo = {"sub": "u-1", "email": "ada@example.org", "email_verified": True}
    assert sign_in(browser, provider).status_code == 302
    assert browser.ok("GET", "/api/auth/session")["user"]["email"] == "ada@example.org"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("id_token", "userinfo"),
    [
        # Each source speaks of another address: what one says of its own proves nothing of the other's.
        ({"email": "ada@example.org"}, {"email": "eve@example.org", "email_verified": True}),
        ({"email": "ada@example.org"}, {"email": "ada@example.org", "email_verified": False}),
        ({"email": "ada@example.org"}, {"email": "ada@example.org"}),
        # The signed token alone counts where it says that the address is not verified.
        ({"email": "ada@example.org", "email_verified": False}, {"email": "ada@example.org", "email_verified": True}),
    ],
    ids=str,
)
def test_userinfo_does_not_verify_another_address(
    browser: Client, provider: Provider, alice: User, id_token: dict[str, Any], userinfo: dict[str, Any]
) -> None:
    provider.claims = {"sub": "u-1", **id_token}
    provider.userinfo = {"sub": "u-1", **userinfo}
    response = sign_in(browser, provider)
    if response.status_code == 302:
        assert browser.ok("GET", "/api/auth/session")["user"]["email"] == "eve@example.org"
    else:
        assert (response.status_code, response.json()["code"]) == (403, "email_unverified")


def test_linked_account_signs_in_while_userinfo_is_away(browser: Client, provider: Provider) -> None:
    sign_in(browser, provider)
    provider.claims["email_verified"] = None
    again = Client()
    assert sign_in(again, provider).status_code == 302  # userinfo names no subject
    assert again.ok("GET", "/api/auth/session")["user"]["email"] == "ada@example.org"


@pytest.mark.one_database
@pytest.mark.parametrize("seconds", [1, 30, 60, "60", 3600])
def test_short_lived_access_token_reads_userinfo(browser: Client, provider: Provider, seconds: Any) -> None:
    provider.token_members = {"expires_in": seconds}
    provider.claims = {"sub": "u-1"}
    provider.userinfo = {"sub": "u-1", "email": "ada@example.org", "email_verified": True}
    assert sign_in(browser, provider).status_code == 302


@pytest.mark.one_database
@pytest.mark.parametrize(
    "members",
    [{"expires_in": -1}, {"token_type": "dpop"}, {"token_type": None}, {"expires_at": "soon"}, {"access_token": ""}],
    ids=str,
)
def test_odd_access_token_is_no_server_error(browser: Client, provider: Provider, members: dict[str, Any]) -> None:
    provider.token_members = members
    provider.claims = {"sub": "u-1"}
    provider.userinfo = {"sub": "u-1", "email": "ada@example.org", "email_verified": True}
    assert sign_in(browser, provider).status_code in {302, 401, 503}


@pytest.mark.one_database
@pytest.mark.parametrize(
    "key",
    [
        {"kty": "EC", "crv": "P-1024", "x": "AA", "y": "AA", "kid": "curve"},
        {"kty": "AKP", "alg": "ML-DSA-65", "pub": "AA", "kid": "kind"},
        {"kty": "RSA", "kid": "broken"},
        {"kty": "OKP", "crv": "X25519", "x": "!!", "kid": "not-base64"},
        {"kid": "no-kty"},
        "no object",
        None,
    ],
    ids=str,
)
def test_keys_that_cannot_be_read_are_skipped(browser: Client, provider: Provider, key: Any) -> None:
    provider.other_keys = [key]
    assert sign_in(browser, provider).status_code == 302
    assert provider.requested_paths.count("/keys") == 1


def test_unknown_key_id_fetches_the_keys_once(browser: Client, provider: Provider) -> None:
    sign_in(browser, provider)
    provider.signing_key = RSAKey.generate_key(2048, parameters={"kid": "one"})
    before = provider.requested_paths.count("/keys")
    assert failed_sign_in(Client(), provider) == (401, "oidc_refused")
    assert provider.requested_paths.count("/keys") == before + 1


@pytest.mark.one_database
@pytest.mark.parametrize(
    "lie",
    [
        {"iss": "http://elsewhere.example"},
        {"aud": "another client"},
        {"aud": ["contacts", "another"]},
        {"exp": 1_600_000_000},
        {"nonce": "replayed"},
        {"nonce": None},
        {"sub": None},
        {"sub": 7},
        {"sub": "x" * 256},
        {"azp": "another"},
        {"at_hash": "AAAA"},
    ],
    ids=str,
)
def test_invalid_id_token_is_refused(browser: Client, provider: Provider, lie: dict[str, Any]) -> None:
    provider.wrong_claims = lie
    assert failed_sign_in(browser, provider) == (401, "oidc_refused")
    assert not User.objects.exists()


@pytest.mark.one_database
@pytest.mark.parametrize("response", [[], [1], "text", {}, {"id_token": 5}, {"id_token": "a.b.c"}], ids=str)
def test_invalid_responses_of_the_provider_sign_nobody_in(browser: Client, provider: Provider, response: Any) -> None:
    provider.token_response = response
    assert failed_sign_in(browser, provider)[0] in {401, 503}


def test_a_foreign_signature_is_refused(browser: Client, provider: Provider) -> None:
    provider.signing_key = RSAKey.generate_key(2048, parameters={"kid": "one"})
    assert failed_sign_in(browser, provider) == (401, "oidc_refused")


@pytest.mark.parametrize("kid", ["two", "one"], ids=["another-id", "same-id"])
def test_rotated_keys_of_the_provider_are_fetched(browser: Client, provider: Provider, kid: str) -> None:
    sign_in(browser, provider)
    provider.rotate_key(kid)
    assert sign_in(Client(), provider).status_code == 302


def test_the_client_may_have_to_authenticate_in_the_body(browser: Client, provider: Provider) -> None:
    provider.auth_methods = ["client_secret_post"]
    assert sign_in(browser, provider).status_code == 302
    assert provider.redeemed[0]["client_secret"] == CLIENT_SECRET


def test_a_callback_of_another_browser_or_state_is_refused(browser: Client, provider: Provider) -> None:
    location = browser.call("GET", "/api/auth/oidc/start")["Location"]
    callback = approve_sign_in(provider, location)
    assert Client().ok("GET", callback, status=400)["code"] == "invalid_state"
    forged = callback.replace("state=", "state=x")
    assert browser.ok("GET", forged, status=400)["code"] == "invalid_state"
    assert browser.call("GET", callback).status_code == 302


def test_a_code_is_redeemed_once(browser: Client, provider: Provider) -> None:
    callback = approve_sign_in(provider, browser.call("GET", "/api/auth/oidc/start")["Location"])
    cookie = browser.cookies["oidc_flow"].value
    assert browser.call("GET", callback).status_code == 302
    again = Client()
    again.cookies["oidc_flow"] = cookie
    assert again.ok("GET", callback, status=401)["code"] == "oidc_refused"


def test_a_user_who_denies_consent_is_not_signed_in(browser: Client, provider: Provider) -> None:
    location = browser.call("GET", "/api/auth/oidc/start")["Location"]
    state = dict(parse_qsl(urlsplit(location).query))["state"]
    callback = f"/api/auth/oidc/callback?error=access_denied&state={state}"
    assert browser.ok("GET", callback, status=401)["code"] == "oidc_refused"
    browser.ok("GET", "/api/auth/session", status=401)


HTML = {"HTTP_ACCEPT": "text/html", "HTTP_ACCEPT_LANGUAGE": "de"}
CLIENT_SIGN_IN = "/app/sign-in?next=%2Fpeople%3Fq%3Dada"


@pytest.mark.parametrize(
    ("wanted", "led_back_to"),
    [
        (CLIENT_SIGN_IN, f"{CLIENT_SIGN_IN}&refused=oidc_refused"),
        (f"{CLIENT_SIGN_IN}&refused=unavailable", f"{CLIENT_SIGN_IN}&refused=oidc_refused"),
        ("/app/people?q=ada", f"{CLIENT_SIGN_IN}&refused=oidc_refused"),
        ("/app", "/app/sign-in?next=%2F&refused=oidc_refused"),
        ("/people", "/account/sign-in?next=%2Fpeople&refused=oidc_refused"),
        ("//evil.example", "/account/sign-in?next=%2Fapi%2Fdocs&refused=oidc_refused"),
    ],
)
def test_refused_browser_is_led_back_to_the_sign_in_page(
    browser: Client, provider: Provider, wanted: str, led_back_to: str
) -> None:
    started = browser.call("GET", f"/api/auth/oidc/start?{urlencode({'next': wanted})}")
    state = dict(parse_qsl(urlsplit(started["Location"]).query))["state"]
    refused = browser.call("GET", f"/api/auth/oidc/callback?error=access_denied&state={state}", **HTML)
    assert (refused.status_code, refused["Location"]) == (302, led_back_to)
    browser.ok("GET", "/api/auth/session", status=401)


def test_browser_with_an_expired_sign_in_or_without_a_provider_is_led_back(
    browser: Client, provider: Provider, settings: Any
) -> None:
    expired = browser.call("GET", "/api/auth/oidc/callback?code=x&state=y", **HTML)
    assert expired["Location"] == "/app/sign-in?next=%2F&refused=invalid_state"
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    away = browser.call("GET", "/api/auth/oidc/start?next=/app/", **HTML)
    assert away["Location"] == "/app/sign-in?next=%2F&refused=unavailable"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("oidc_refused", "Der Anmeldeanbieter hat nicht bestätigt, wer Sie sind."),
        ("invalid_state", "Diese Anmeldung ist abgelaufen oder wurde woanders begonnen."),
        ("email_unverified", "Der Anmeldeanbieter hat Ihre E-Mail-Adresse nicht bestätigt."),
        ("rate_limited", "Zu viele Versuche. Versuchen Sie es in einigen Minuten noch einmal."),
        ("made-up<script>", "Die Anfrage kann nicht ausgeführt werden."),
    ],
)
def test_sign_in_page_says_in_the_language_of_the_browser_why_it_was_led_back_to(
    browser: Client, code: str, sentence: str
) -> None:
    page = browser.call("GET", f"/account/sign-in?{urlencode({'refused': code})}", **HTML).content.decode()
    assert sentence in page
    assert "made-up" not in page


@pytest.mark.one_database
@pytest.mark.parametrize("path", ["//evil.example/x", "https://evil.example", "/\\evil.example", "javascript:x", ""])
def test_next_outside_the_service_is_ignored(browser: Client, provider: Provider, path: str) -> None:
    assert sign_in(browser, provider, f"?next={path}")["Location"] == "/api/docs"


def test_closed_registration_applies_to_the_provider(browser: Client, provider: Provider, settings: Any) -> None:
    settings.REGISTRATION = "closed"
    assert failed_sign_in(browser, provider) == (403, "registration_closed")


def test_inactive_account_cannot_sign_in(browser: Client, provider: Provider) -> None:
    verify_email(make_user("ada@example.org", is_active=False))
    assert failed_sign_in(browser, provider) == (401, "invalid_credentials")


def test_unreachable_provider_is_503(browser: Client, provider: Provider, settings: Any) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    assert browser.ok("GET", "/api/auth/oidc/start", status=503)["code"] == "unavailable"


def test_provider_refused_by_the_address_policy_is_not_called(
    browser: Client, provider: Provider, settings: Any
) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert browser.ok("GET", "/api/auth/oidc/start", status=503)["code"] == "unavailable"


def test_metadata_of_another_issuer_are_refused(browser: Client, provider: Provider, settings: Any) -> None:
    settings.OIDC_ISSUER = provider.issuer.replace("127.0.0.1", "localhost")
    assert browser.ok("GET", "/api/auth/oidc/start", status=503)["code"] == "unavailable"


def test_providers_are_listed(browser: Client, provider: Provider, settings: Any) -> None:
    listed = {"providers": [{"id": "oidc", "name": "Example"}], "passwordLogin": True, "registration": True}
    assert browser.ok("GET", "/api/auth/providers") == listed
    settings.OIDC_ISSUER, settings.REGISTRATION = "", "closed"
    assert browser.ok("GET", "/api/auth/providers") == {"providers": [], "passwordLogin": True, "registration": False}
    browser.ok("GET", "/api/auth/oidc/start", status=404)


def test_started_sign_ins_are_rate_limited_per_client_address(browser: Client, provider: Provider) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False):
        statuses = {browser.call("GET", "/api/auth/oidc/start").status_code for _ in range(60)}
        refused = browser.call("GET", "/api/auth/oidc/start")
        assert (statuses, refused.status_code) == ({302}, 429)
        assert 1 <= int(refused["Retry-After"]) <= 61
        assert browser.call("GET", "/api/auth/oidc/start", REMOTE_ADDR="203.0.113.2").status_code == 302


@contextmanager
def pending_sign_in(provider: Provider) -> Iterator["Future[Any]"]:
    """Within the context, a sign-in is waiting for the provider."""
    provider.responsive.clear()
    number = len(provider.requested_paths)
    with ThreadPoolExecutor(1) as pool:
        try:
            waiting = pool.submit(Client().call, "GET", "/api/auth/oidc/start")
            while len(provider.requested_paths) == number:
                assert not waiting.done()
            yield waiting
        finally:
            provider.responsive.set()


def test_only_one_request_waits_for_a_hanging_provider(provider: Provider) -> None:
    with pending_sign_in(provider) as waiting:
        for _ in range(24):
            response = Client().call("GET", "/api/auth/oidc/start")
            assert (response.status_code, response.json()["code"]) == (503, "unavailable")
            assert int(response["Retry-After"]) > 0
        assert not waiting.done()
    assert waiting.result().status_code == 302
    assert Client().call("GET", "/api/auth/oidc/start").status_code == 302
    assert len(provider.requested_paths) == 1


def test_stale_documents_are_used_and_failures_are_cached(
    browser: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign_in(browser, provider).status_code == 302
    monkeypatch.setattr("accounts.oidc.provider._MAX_AGE_SECONDS", -1)
    with pending_sign_in(provider) as waiting:
        assert Client().call("GET", "/api/auth/oidc/start").status_code == 302
        assert not waiting.done()
    monkeypatch.setattr(provider, "answer", lambda *args: (500, {}))
    before = len(provider.requested_paths)
    assert [Client().call("GET", "/api/auth/oidc/start").status_code for _ in range(3)] == [302] * 3
    assert len(provider.requested_paths) == before + 1
    monkeypatch.setattr("accounts.oidc.provider._MAX_STALE_SECONDS", -1)
    refused = Client().call("GET", "/api/auth/oidc/start")
    assert (refused.status_code, len(provider.requested_paths)) == (503, before + 1)
    assert 25 <= int(refused["Retry-After"]) <= 30
