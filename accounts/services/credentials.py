"""Proving who one is by password, within budgets that hold a guesser but never lock the owner out for good."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.http import HttpRequest

from accounts.models import User
from accounts.services.addresses import verification_is_mandatory
from accounts.services.known_devices import BY_KNOWN_DEVICES, is_known_device
from accounts.services.second_factor import MfaRequiredError, has_second_factor, spend_code
from contacts_project.kernel.api.client_address import address_block, client_address
from contacts_project.kernel.budgets import Budget, forget_draws
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.metrics import Counter

SIGN_INS = Counter("contacts_sign_ins_total", "Attempts to sign in, by what came of them.", ("outcome",))
BY_ADDRESS = Budget("login-address", 10, 15 * 60)
BY_ACCOUNT = Budget("login-account", 10, 15 * 60)
# Guesses of somebody who is signed in, at what proves that it is still the owner.
PROOFS = Budget("account-proof", 10, 15 * 60)
UNUSABLE_HASH = "!"


class InvalidCredentialsError(DomainError):
    """Wrong address, password or code: which of them is not said."""

    message = "The e-mail address, the password or the code is wrong."


class EmailUnverifiedError(DomainError):
    """Right credentials, but the address has yet to be verified."""

    message = "Verify your e-mail address first: follow the link in the mail, or ask for another."


_OUTCOMES = {
    InvalidCredentialsError: "wrong",
    EmailUnverifiedError: "unverified",
    MfaRequiredError: "code_required",
    RateLimitedError: "limited",
}


@contextmanager
def counting_refusals() -> Iterator[None]:
    """Count what keeps somebody out who tries to sign in."""
    try:
        yield
    except DomainError as error:
        SIGN_INS.count(_OUTCOMES.get(type(error), "refused"))
        raise


@counting_refusals()
def check_credentials(*, request: HttpRequest, email: str, password: str, code: str | None, now: dt.datetime) -> User:
    """The account that these open. Raises RateLimitedError, InvalidCredentialsError, EmailUnverifiedError,
    MfaRequiredError.

    Failures draw on two budgets, of the caller's address and of the account. Browsers that were signed in to the
    account before share one of their own instead, so that strangers who fail on purpose do not keep the owner out.
    For an unknown address a hash is computed as for a known one.
    """
    attempt = draw_attempt(request, User.objects.with_email(email).first(), email)
    user = _opened_by(email, password)
    if user is None or not user.is_active:
        raise InvalidCredentialsError
    if verification_is_mandatory() and User.objects.fold(user.proven_email or "") != User.objects.fold(email):
        attempt.give_back()
        raise EmailUnverifiedError
    if has_second_factor(user):
        if not code:
            attempt.give_back()
            raise MfaRequiredError
        if not spend_code(user=user, code=code, now=now):
            raise InvalidCredentialsError
    attempt.give_back()
    SIGN_INS.count("ok")
    return user


def _opened_by(email: str, password: str) -> User | None:
    """The account that has proven the address, else the first that claims it, whichever has this password.

    A wrong password costs two hashes for any address, so that the time tells of neither.
    """
    for users in (User.objects.with_proven_email(email), User.objects.claiming(email)):
        user = users.first()
        if check_password(password, user.password if user else UNUSABLE_HASH):
            return user
    return None


def draw_attempt(request: HttpRequest, user: User | None, email: str) -> "Attempt":
    """Count an attempt before it is made. Raises RateLimitedError, and has then drawn nothing."""
    account = str(user.pk) if user else User.objects.fold(email)
    if is_known_device(request, user):
        attempt = Attempt(((BY_KNOWN_DEVICES, account),))
    else:
        attempt = Attempt(((BY_ADDRESS, address_block(client_address(request))), (BY_ACCOUNT, account)))
    with transaction.atomic():
        for budget, subject in attempt.draws:
            budget.draw(subject, drawn_for=account)
    return attempt


def forget_attempts(user: User) -> None:
    """Let the account be signed in to at once, from wherever it was last tried: attempts and proofs start anew."""
    forget_draws(str(user.pk))
    PROOFS.clear(str(user.pk))


@dataclass(frozen=True)
class Attempt:
    """What one attempt has drawn."""

    draws: tuple[tuple[Budget, str], ...]

    def give_back(self) -> None:
        """It proved right, which costs nothing."""
        for budget, subject in self.draws:
            budget.give_back(subject)


@contextmanager
def proving(user: User) -> Iterator[None]:
    """Count a check of a signed-in account's password or code, unless it passes. Raises RateLimitedError.

    A budget of its own: what strangers fail to prove is nothing to who is signed in.
    """
    PROOFS.draw(str(user.pk))
    yield
    PROOFS.give_back(str(user.pk))
