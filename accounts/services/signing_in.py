"""Proving who one is by password, within budgets that hold a guesser but never lock the owner out for good."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework import status

from accounts.models import User
from accounts.services.registration import verification_is_mandatory
from accounts.services.second_factor import MfaRequiredError, has_second_factor, spend_code
from contacts_project.kernel.api.budgets import Budget
from contacts_project.kernel.api.client_address import address_block, client_address
from contacts_project.kernel.api.errors import ApiError

BY_ADDRESS = Budget("login-address", 10, 15 * 60)
BY_ACCOUNT = Budget("login-account", 10, 15 * 60)
# Guesses of somebody who is signed in, at what proves that it is still the owner.
PROOFS = Budget("account-proof", 10, 15 * 60)
UNUSABLE_HASH = "!"

DEVICE_COOKIE = "known_device"
_DEVICE_SALT = "accounts.known_device"
_DEVICE_SECONDS = 365 * 24 * 3600


class InvalidCredentialsError(ApiError):
    """Wrong address, password or code: which of them is not said."""

    status_code = status.HTTP_401_UNAUTHORIZED
    code = "invalid_credentials"
    message = "The e-mail address, the password or the code is wrong."


class EmailUnverifiedError(ApiError):
    """Right credentials, but the address has yet to be verified."""

    status_code = status.HTTP_403_FORBIDDEN
    code = "email_unverified"
    message = "Verify your e-mail address first: follow the link in the mail, or ask for another."


def check_credentials(*, request: HttpRequest, email: str, password: str, code: str | None, now: dt.datetime) -> User:
    """The account that these open. Raises RateLimitedError, InvalidCredentialsError, EmailUnverifiedError,
    MfaRequiredError.

    Failures draw on two budgets, of the caller's address and of the account. A browser that has signed in to the
    account before has a budget of its own, so that strangers who fail on purpose do not keep the owner out. For an
    unknown address a hash is computed as for a known one.
    """
    subjects = draw_attempt(request, email)
    user = User.objects.with_email(email).first()
    right = check_password(password, user.password if user else UNUSABLE_HASH)
    if user is None or not right or not user.is_active:
        raise InvalidCredentialsError
    if verification_is_mandatory() and not user.email_verified:
        give_back_attempt(subjects)
        raise EmailUnverifiedError
    if has_second_factor(user):
        if not code:
            give_back_attempt(subjects)
            raise MfaRequiredError
        if not spend_code(user=user, code=code, now=now):
            raise InvalidCredentialsError
    give_back_attempt(subjects)
    return user


def draw_attempt(request: HttpRequest, email: str) -> tuple[str, str]:
    """Count an attempt before it is made; returns what `give_back_attempt` takes once it proves right."""
    folded = User.objects.fold(email)
    account = f"{folded}|{_device(request, folded)}"
    address = address_block(client_address(request))
    BY_ADDRESS.draw(address)
    BY_ACCOUNT.draw(account)
    return address, account


def give_back_attempt(subjects: tuple[str, str]) -> None:
    """A right answer costs nothing."""
    BY_ADDRESS.give_back(subjects[0])
    BY_ACCOUNT.give_back(subjects[1])


@contextmanager
def proving(user: User) -> Iterator[None]:
    """Count a check of a signed-in account's password or code, unless it passes. Raises RateLimitedError.

    A budget of its own: what strangers fail at the door is nothing to who is inside.
    """
    PROOFS.draw(str(user.pk))
    yield
    PROOFS.give_back(str(user.pk))


def remember_device(response: HttpResponseBase, user: User) -> None:
    """Leave a mark in the browser that has signed in, which gives its next attempts a budget of their own."""
    mark = signing.dumps([User.objects.fold(user.email), signing.TimestampSigner().timestamp()], salt=_DEVICE_SALT)
    response.set_cookie(
        DEVICE_COOKIE,
        mark,
        max_age=_DEVICE_SECONDS,
        path="/api/auth/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite=settings.SESSION_COOKIE_SAMESITE,
    )


def _device(request: HttpRequest, folded_email: str) -> str:
    """The mark of a browser that is known to the account, `""` for any other."""
    mark = request.COOKIES.get(DEVICE_COOKIE, "")
    try:
        owner, _ = signing.loads(mark, salt=_DEVICE_SALT, max_age=_DEVICE_SECONDS)
    except (signing.BadSignature, ValueError):
        return ""
    return mark if owner == folded_email else ""
