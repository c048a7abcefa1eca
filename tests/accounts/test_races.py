"""Two at once: one operator, one account for an address, one use of a token or code."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyotp
import pytest
from django.db import connections
from django.utils import timezone

from accounts.link_tokens import Purpose, make_token
from accounts.models import RecoveryCode, TotpDevice, User
from accounts.services.second_factor import _digest, spend_code
from tests.builders import PASSWORD, make_user
from tests.client import Client

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls in threads that start together, each with a connection of its own; their results."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def register(email: str) -> int:
    body = {"email": email, "password": PASSWORD, "name": "Ada"}
    return int(Client().call("POST", "/api/auth/register", body).status_code)


def test_exactly_one_operator() -> None:
    statuses = at_once(*(lambda number=number: register(f"a{number}@example.org") for number in range(4)))
    assert statuses == [201] * 4
    assert User.objects.filter(is_superuser=True, is_staff=True).count() == 1


def test_only_the_first_account_where_only_the_first_is_let_in(settings: Any) -> None:
    settings.REGISTRATION = "first"
    statuses = at_once(*(lambda number=number: register(f"a{number}@example.org") for number in range(4)))
    assert sorted(statuses) == [201, 403, 403, 403]
    assert User.objects.count() == 1


def test_exactly_one_account_for_an_address() -> None:
    statuses = at_once(lambda: register("ada@example.org"), lambda: register("ADA@EXAMPLE.ORG"))
    assert sorted(statuses) == [201, 400]


def test_a_reset_link_sets_one_password() -> None:
    token = make_token(make_user("ada@example.org"), Purpose.RESET)

    def reset(password: str) -> int:
        body = {"token": token, "password": password}
        return int(Client().call("POST", "/api/auth/reset-password", body).status_code)

    assert sorted(at_once(lambda: reset("Better-Horse-8"), lambda: reset("Third-Horse-9"))) == [200, 400]


def test_a_code_opens_once() -> None:
    user = make_user("ada@example.org")
    TotpDevice.objects.create(owner=user, secret=pyotp.random_base32(), confirmed_at=timezone.now())
    RecoveryCode.objects.create(owner=user, digest=_digest(user, "ABCD-EFGH-JKLM"))
    spend = [lambda: spend_code(user=user, code="abcd-efgh-jklm", now=timezone.now())] * 3
    assert sorted(at_once(*spend)) == [False, False, True]


def test_an_account_is_deleted_once() -> None:
    user = make_user("ada@example.org")
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(user)
    body = {"password": PASSWORD, "confirmationText": "DELETE"}
    calls = [lambda client=client: client.call("DELETE", "/api/user/delete", body).status_code for client in clients]
    assert sorted(at_once(*calls)) in ([200, 401], [200, 200])
    assert not User.objects.exists()
