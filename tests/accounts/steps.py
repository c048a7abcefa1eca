"""Helpers of the tests of accounts: what users and attackers do with accounts and their addresses."""

from collections.abc import Callable
from typing import Any

from accounts.models import ApiToken, OidcIdentity, TotpDevice, User
from tests.builders import PASSWORD, make_token
from tests.client import Client

SendMails = Callable[[], int]
"""The type of the fixture `send_mails`, which sends the queued mails and returns their number."""

NEW_PASSWORD = "Better-Horse-8"
VICTIM, ATTACKER = "victim@example.org", "attacker@example.net"


def register(email: str, password: str = PASSWORD) -> None:
    Client().ok("POST", "/api/auth/register", {"email": email, "password": password, "name": "Somebody"}, status=201)


def sign_in(email: str, password: str = PASSWORD, status: int = 200) -> Client:
    client = Client()
    client.ok("POST", "/api/auth/login", {"email": email, "password": password}, status=status)
    return client


def verify(token: str, client: Client | None = None, status: int = 200, **extra: str) -> Any:
    return (client or Client()).ok("POST", "/api/auth/verify-email", {"token": token, **extra}, status=status)


def reset(token: str, status: int = 200) -> None:
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": NEW_PASSWORD}, status=status)


def take_back(token: str, status: int = 200) -> Any:
    return Client().ok("POST", "/api/auth/take-back-email", {"token": token}, status=status)


def change_email(client: Client, email: str) -> dict[str, Any]:
    response = client.ok("PUT", "/api/user/profile", {"name": "Somebody", "email": email})
    assert response["emailChanged"] is True
    assert (response["user"]["email"], response["user"]["emailVerified"]) == (email, False)
    user: dict[str, Any] = response["user"]
    return user


def profile(client: Client) -> tuple[str, bool]:
    user = client.ok("GET", "/api/user/profile")["user"]
    return user["email"], user["emailVerified"]


def add_credentials(user: User) -> None:
    make_token(user)
    OidcIdentity.objects.create(owner=user, issuer="https://id.example", subject=str(user.pk))
    TotpDevice.objects.create(owner=user, secret="x", confirmed_at=user.created_at)


def count_credentials(user: User) -> list[int]:
    return [model.unscoped.rows().filter(owner=user).count() for model in (ApiToken, OidcIdentity, TotpDevice)]
