"""An app gets a token for its device: same rules and rate limits as login, no session, no CSRF token."""

from typing import Any

import pyotp
import pytest
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, TotpDevice, User
from accounts.services.mail import LinkPurpose, make_link_token
from contacts_project.kernel.ownership.account_lock import account_write
from tests.accounts.steps import NEW_PASSWORD
from tests.builders import PASSWORD, make_user, verify_email
from tests.builders import make_token as make_api_token
from tests.client import Client

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]
TOKEN = "/api/auth/token"


def sign_in(user: User, *, client: Client | None = None, status: int = 201, **body: Any) -> Any:
    body = {"email": user.email, "password": PASSWORD, "name": "phone", **body}
    return (client or Client()).ok("POST", TOKEN, body, status=status)


def device_of(user: User, **body: Any) -> Client:
    client = Client()
    client.bearer = sign_in(user, **body)["apiToken"]["token"]
    return client


def test_an_app_signs_in_and_out(alice: User, browser: Client) -> None:
    made = sign_in(alice, client=browser)["apiToken"]
    assert (made["name"], made["kind"], made["scope"], made["expiresAt"]) == ("phone", "device", "READ_WRITE", None)
    assert not browser.cookies
    assert not AccountSession.unscoped.exists()
    device, other = Client(), device_of(alice, name="tablet")
    device.bearer = made["token"]
    device.ok("POST", "/api/groups", {"name": "Friends"}, status=201)
    assert device.ok("DELETE", TOKEN) == {"success": True}
    device.ok("GET", "/api/auth/session", status=401)
    other.ok("GET", "/api/auth/session")


def test_device_tokens_are_listed_and_revoked_with_the_other_tokens(alice: User, signed_in: Client) -> None:
    device = device_of(alice)
    signed_in.ok("POST", "/api/user/api-tokens", {"name": "script"}, status=201)
    listed = signed_in.ok("GET", "/api/user/api-tokens")["tokens"]
    assert [(token["name"], token["kind"]) for token in listed] == [("script", "token"), ("phone", "device")]
    signed_in.ok("DELETE", f"/api/user/api-tokens/{listed[1]['id']}")
    device.ok("GET", "/api/auth/session", status=401)


def test_second_factor_is_required_as_at_login(alice: User) -> None:
    device = TotpDevice.objects.create(owner=alice, secret=pyotp.random_base32(), confirmed_at=timezone.now())
    assert sign_in(alice, status=401)["code"] == "mfa_required"
    code = pyotp.TOTP(device.secret).at(timezone.now())
    sign_in(alice, code=code)
    assert sign_in(alice, code=code, status=401)["code"] == "invalid_credentials"


@pytest.mark.parametrize("change", [{}, {"email": "nobody@example.org"}, {"password": "Wrong-Horse-7"}, {"code": 5}])
def test_refusals_equal_those_of_login(change: dict[str, Any], alice: User, settings: Any) -> None:
    if not change:
        settings.EMAIL_VERIFICATION = "mandatory"
    body = {"email": alice.email, "password": PASSWORD, "name": "phone", **change}
    responses = [Client().call("POST", path, body) for path in (TOKEN, "/api/auth/login")]
    assert responses[0].status_code in {400, 401, 403}
    assert responses[0].content == responses[1].content
    assert [responses[0].status_code, responses[0].headers.get("WWW-Authenticate")] == [
        responses[1].status_code,
        responses[1].headers.get("WWW-Authenticate"),
    ]


def test_failures_share_the_rate_limit_of_login(alice: User) -> None:
    wrong = {"email": alice.email, "password": "Wrong-Horse-7", "name": "phone"}
    paths = [TOKEN, "/api/auth/login"] * 6
    statuses = [Client().call("POST", path, wrong).status_code for path in paths]
    assert statuses == [401] * 10 + [429] * 2
    assert ApiToken.unscoped.count() == 0


def test_invalid_body_is_refused_by_field(alice: User) -> None:
    for wrong in ({"name": None}, {"name": "x" * 101}, {"scope": "ADMIN"}, {"password": None}):
        assert sign_in(alice, status=400, **wrong)["details"][0]["field"] == next(iter(wrong))


def test_response_is_not_stored_for_an_idempotency_key(alice: User) -> None:
    client = Client(HTTP_IDEMPOTENCY_KEY="once")
    assert len({sign_in(alice, client=client)["apiToken"]["token"] for _ in range(2)}) == 2


def test_invalid_bearer_does_not_prevent_signing_in(alice: User) -> None:
    client = Client()
    client.bearer = "cnt_nonsense"
    sign_in(alice, client=client)


def test_sign_out_needs_a_read_write_token(alice: User, signed_in: Client) -> None:
    response = signed_in.call("DELETE", TOKEN)
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    reading = device_of(alice, scope="READ")
    assert reading.ok("DELETE", TOKEN, status=403)["code"] == "read_only_token"
    script = Client()
    script.bearer = make_api_token(alice)
    script.ok("DELETE", TOKEN)
    script.ok("GET", "/api/people", status=401)
    reading.ok("GET", "/api/people")


def test_a_password_reset_revokes_the_token() -> None:
    """Resetting the password revokes the token, changing it does not."""
    ada = verify_email(make_user("ada@example.org"))
    device = device_of(ada)
    device.ok("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})
    device.ok("GET", "/api/auth/session")
    ada.refresh_from_db()
    Client().ok(
        "POST", "/api/auth/reset-password", {"token": make_link_token(ada, LinkPurpose.RESET), "password": PASSWORD}
    )
    device.ok("GET", "/api/auth/session", status=401)


def test_password_changed_during_sign_in_yields_no_token(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def change_first(owner: Any) -> Any:
        other = User.objects.get(pk=alice.pk)
        other.set_password(NEW_PASSWORD)
        other.save()
        return account_write(owner)

    monkeypatch.setattr("accounts.services.tokens.account_write", change_first)
    assert sign_in(alice, status=401)["code"] == "invalid_credentials"
    assert not ApiToken.unscoped.exists()


@pytest.mark.both_databases
def test_account_has_at_most_a_hundred_tokens(alice: User, signed_in: Client) -> None:
    devices = [ApiToken(owner=alice, name="old", prefix="cnt_", digest=str(number)) for number in range(99)]
    ApiToken.unscoped.bulk_create(devices)
    sign_in(alice)
    assert sign_in(alice, status=409)["code"] == "too_many_tokens"
    body = {"name": "script"}
    assert signed_in.ok("POST", "/api/user/api-tokens", body, status=409)["code"] == "too_many_tokens"
    signed_in.ok("DELETE", f"/api/user/api-tokens/{devices[0].pk}")
    sign_in(alice)
