"""API tokens: created in a session, shown once, limited to their scope and lifetime."""

import datetime as dt
import re

import pytest
import time_machine

from accounts.models import ApiToken, User
from tests.client import Client, client_of


def bearer(token: str) -> Client:
    client = Client()
    client.bearer = token
    return client


def test_a_token_is_shown_once_and_signs_in(signed_in: Client, alice: User) -> None:
    made = signed_in.ok("POST", "/api/user/api-tokens", {"name": " laptop "}, status=201)["apiToken"]
    assert re.fullmatch(r"cnt_[0-9A-Za-z]{46}", made["token"])
    assert (made["name"], made["scope"], made["expiresAt"], made["lastUsedAt"]) == ("laptop", "READ_WRITE", None, None)
    assert made["token"].startswith(made["prefix"])
    assert bearer(made["token"]).ok("GET", "/api/auth/session")["user"]["id"] == str(alice.pk)
    listed = signed_in.ok("GET", "/api/user/api-tokens")["tokens"]
    assert [token["id"] for token in listed] == [made["id"]]
    assert "token" not in listed[0]
    assert listed[0]["lastUsedAt"]
    assert made["token"] not in str(ApiToken.unscoped.values_list())


def test_an_expired_token_is_401(signed_in: Client) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        body = {"name": "short", "expiresAt": "2026-05-01T01:00:00+00:00"}
        made = signed_in.ok("POST", "/api/user/api-tokens", body, status=201)["apiToken"]
        assert made["expiresAt"] == "2026-05-01T01:00:00.000Z"
        bearer(made["token"]).ok("GET", "/api/auth/session")
        clock.shift(3600)
        bearer(made["token"]).ok("GET", "/api/auth/session", status=401)


def test_last_use_is_written_once_a_minute(signed_in: Client) -> None:
    token = signed_in.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201)["apiToken"]["token"]
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        uses = []
        for _ in range(3):
            bearer(token).ok("GET", "/api/auth/session")
            used = ApiToken.unscoped.get().last_used_at
            assert used
            uses.append(used)
            clock.shift(40)
    assert uses[0] == uses[1] < uses[2]


def test_a_revoked_token_is_401(signed_in: Client) -> None:
    made = signed_in.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201)["apiToken"]
    assert signed_in.ok("DELETE", f"/api/user/api-tokens/{made['id']}") == {"success": True}
    response = bearer(made["token"]).call("GET", "/api/auth/session")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"


def test_invalid_bearer_is_401_even_with_a_session(signed_in: Client) -> None:
    response = signed_in.call("GET", "/api/auth/session", HTTP_AUTHORIZATION="Bearer cnt_nonsense")
    assert response.status_code == 401


@pytest.mark.parametrize("header", ["Basic dXNlcjpwYXNzd29yZA==", "Digest x", "cnt_nonsense"])
def test_header_of_another_scheme_leaves_the_session(signed_in: Client, browser: Client, header: str) -> None:
    """Browsers send the Basic header of a proxy that asks for a password with every request."""
    signed_in.ok("GET", "/api/people", HTTP_AUTHORIZATION=header)
    browser.cookies = signed_in.cookies
    assert browser.ok("POST", "/api/people", {"name": "Ada"}, status=403, HTTP_AUTHORIZATION=header)["code"] == "csrf"
    response = Client().call("GET", "/api/people", HTTP_AUTHORIZATION=header)
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")


def test_token_cannot_create_tokens(alice: User) -> None:
    response = client_of(alice).ok("POST", "/api/user/api-tokens", {"name": "x"}, status=403)
    assert response["code"] == "session_required"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "x", "scope": "ADMIN"}, "scope"),
        ({"name": "x", "expiresAt": "soon"}, "expiresAt"),
        ({"name": "x", "expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt"),
        ({"name": "x", "expiresAt": 5}, "expiresAt"),
    ],
)
def test_invalid_tokens_are_refused(signed_in: Client, body: dict, field: str) -> None:
    response = signed_in.ok("POST", "/api/user/api-tokens", body, status=400)
    assert response["details"][0]["field"] == field


def test_token_is_hidden_from_other_accounts(signed_in: Client, mallory: User) -> None:
    made = signed_in.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201)["apiToken"]
    other = Client()
    other.force_login(mallory)
    assert other.ok("GET", "/api/user/api-tokens") == {"tokens": []}
    other.ok("DELETE", f"/api/user/api-tokens/{made['id']}", status=404)
    assert ApiToken.unscoped.exists()
