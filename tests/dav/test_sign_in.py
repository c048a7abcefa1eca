"""Sign-in by app password and its rate limits: an old phone asks for ever, and locks nobody out."""

import datetime as dt

import pytest
from django.utils import timezone

from accounts.models import ApiToken, User
from dav.authentication import UNKNOWN_PASSWORDS
from tests.builders import PASSWORD
from tests.client import Client
from tests.dav.devices import Device, card, signed_in
from tests.dav.test_selection import row_of

pytestmark = pytest.mark.django_db


def asks(device: Device, number: int) -> set[int]:
    return {device.call("PROPFIND", device.book, HTTP_DEPTH="0").status_code for _ in range(number)}


def signs_in(user: User, password: str = PASSWORD) -> int:
    return int(Client().call("POST", "/api/auth/login", {"email": user.email, "password": password}).status_code)


@pytest.mark.split  # a hundred requests each
@pytest.mark.parametrize("how", ["revoked", "expired", "of nobody", "switched off"])
def test_a_phone_with_an_old_password_locks_nobody_out(alice: User, mallory: User, how: str) -> None:
    old, current = Device(alice), Device(alice)
    key = row_of(old).pk
    if how == "revoked":
        signed_in(alice).ok("DELETE", f"/api/user/api-tokens/{key}")
    elif how == "expired":
        ApiToken.objects.owned_by(alice).filter(pk=key).update(expires_at=timezone.now() - dt.timedelta(days=1))
    elif how == "of nobody":
        old.token = f"cnt_{'a' * 46}"
    else:
        old.user, old.token = mallory, Device(mallory).token
        User.objects.filter(pk=mallory.pk).update(is_active=False)
    limit = UNKNOWN_PASSWORDS.limit
    assert asks(old, 2 * limit + 10) == {401}
    # From the same address: its successor, new credentials that are wrong, and the owner in the browser.
    assert current.put("a.vcf", card()).status_code == 201
    stranger = Device(alice)
    stranger.token = "no password of an app"
    assert asks(stranger, limit) == {401}
    assert signs_in(alice) == 200


def test_passwords_tried_here_and_there_have_rate_limits_of_their_own(alice: User) -> None:
    device = Device(alice)
    guesses = Device(alice)
    guesses.token = PASSWORD  # the account's own, which counts for nothing here
    assert asks(guesses, UNKNOWN_PASSWORDS.limit) == {401}
    assert asks(guesses, 1) == {429}
    # A valid password is never refused by the rate limit, neither is the owner.
    assert asks(device, 3) == {207}
    assert signs_in(alice) == 200
    while signs_in(alice, "wrong") != 429:
        pass
    assert asks(device, 3) == {207}


def test_requests_without_credentials_count_nowhere(alice: User) -> None:
    device = Device(alice)
    for header in ("", "Basic", "Basic !", "Bearer x", "Digest a=b"):
        for _ in range(20):
            answer = Client().generic("PROPFIND", device.book, HTTP_DEPTH="0", HTTP_AUTHORIZATION=header)
            assert answer.status_code == 401
            assert "app password" in answer["WWW-Authenticate"]
    guesses = Device(alice)
    guesses.token = "x"
    assert asks(guesses, UNKNOWN_PASSWORDS.limit) == {401}
