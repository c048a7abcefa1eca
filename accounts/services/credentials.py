"""Sign-in by password, rate-limited so that guessing is slow but the owner is never locked out for good."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest

from accounts.models import User
from accounts.passwords import is_password
from accounts.services.addresses import verification_is_mandatory
from accounts.services.known_devices import ATTEMPTS_BY_KNOWN_DEVICE, is_known_device
from accounts.services.second_factor import MfaRequiredError, consume_code, has_second_factor
from contacts_project.kernel.budgets import Budget, forget_draws
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.metrics import Counter
from contacts_project.kernel.texts import define_text

SIGN_INS = Counter("contacts_sign_ins_total", "Attempts to sign in, by what came of them.", ("outcome",))
ATTEMPTS_BY_ADDRESS = Budget("login-address", 10, 15 * 60)
# Five times that of an address: a stranger at one address must not use up the account's, which would lock out the
# owner's new device elsewhere. Refused attempts do not count, so the limit ends, however long others go on.
ATTEMPTS_BY_ACCOUNT = Budget("login-account", 5 * ATTEMPTS_BY_ADDRESS.limit, 15 * 60)
# Attempts of a signed-in caller at the password or code that a sensitive change asks for.
REAUTHENTICATIONS = Budget("account-proof", 10, 15 * 60)
UNUSABLE_HASH = "!"


class InvalidCredentialsError(DomainError):
    """Wrong address, password or code. The message does not reveal which."""

    message = define_text("invalid_credentials", "The e-mail address, the password or the code is wrong.")


class EmailUnverifiedError(DomainError):
    """The credentials are right, but the address is not verified yet."""

    message = define_text(
        "email_unverified", "Verify your e-mail address first: follow the link in the mail, or ask for another."
    )


_OUTCOMES = {
    InvalidCredentialsError: "wrong",
    EmailUnverifiedError: "unverified",
    MfaRequiredError: "code_required",
    RateLimitedError: "limited",
}


@contextmanager
def count_failed_sign_ins() -> Iterator[None]:
    """Count errors raised inside in the metric of sign-ins, by outcome."""
    try:
        yield
    except DomainError as error:
        SIGN_INS.count(_OUTCOMES.get(type(error), "refused"))
        raise


@count_failed_sign_ins()
def check_credentials(*, request: HttpRequest, email: str, password: str, code: str | None, now: dt.datetime) -> User:
    """Return the account that the credentials sign in to. Raises RateLimitedError, InvalidCredentialsError,
    EmailUnverifiedError, MfaRequiredError.

    Failures draw on two budgets, of the client address and of the account. Browsers that have signed in to the account
    before share a budget of their own instead, so that strangers who fail on purpose cannot lock the owner out.
    """
    # Drawn before the check and given back on success: parallel guesses cannot all pass before the first is counted.
    attempt = draw_attempt(request, User.objects.with_email(email).first(), email)
    user = _find_by_password(email, password)
    if user is None or not user.is_active:
        raise InvalidCredentialsError
    if verification_is_mandatory() and User.objects.fold_email(user.proven_email or "") != User.objects.fold_email(
        email
    ):
        attempt.give_back()
        raise EmailUnverifiedError
    if has_second_factor(user):
        if not code:
            # The password was right, so this is no failed attempt; guesses of the code are counted on the next one.
            attempt.give_back()
            raise MfaRequiredError
        if not consume_code(user=user, code=code, now=now):
            raise InvalidCredentialsError
    attempt.give_back()
    SIGN_INS.count("ok")
    return user


def _find_by_password(email: str, password: str) -> User | None:
    """The account that has proven the address, or else the first that claims it, if it has this password."""
    # A wrong password costs two hashes (four if it is not in NFC) for every address, known or not: the response time
    # must not reveal which addresses have an account.
    for users in (User.objects.with_proven_email(email), User.objects.claiming(email)):
        user = users.first()
        if is_password(password, user.password if user else UNUSABLE_HASH):
            return user
    return None


def draw_attempt(request: HttpRequest, user: User | None, email: str) -> "SignInAttempt":
    """Count an attempt, before the credentials are checked. Raises RateLimitedError, in which case nothing is drawn."""
    # An unknown address has a budget too: whether attempts are limited must not reveal whether an account exists.
    account = str(user.pk) if user else User.objects.fold_email(email)
    if is_known_device(request, user):
        attempt = SignInAttempt(((ATTEMPTS_BY_KNOWN_DEVICE, account),))
    else:
        attempt = SignInAttempt(
            ((ATTEMPTS_BY_ADDRESS, address_block(client_address(request))), (ATTEMPTS_BY_ACCOUNT, account))
        )
    with transaction.atomic():  # both budgets or none
        for budget, subject in attempt.draws:
            budget.draw(subject, drawn_for=account)
    return attempt


def reset_attempts(user: User) -> None:
    """Reset the failed attempts for the account, including those of the client addresses that they came from."""
    forget_draws(str(user.pk))
    REAUTHENTICATIONS.clear(str(user.pk))


@dataclass(frozen=True)
class SignInAttempt:
    """One attempt to sign in: the budgets that it has drawn on, each with its subject."""

    draws: tuple[tuple[Budget, str], ...]

    def give_back(self) -> None:
        """Undo the draws, since only failures count."""
        for budget, subject in self.draws:
            budget.give_back(subject)


@contextmanager
def reauthentication(user: User) -> Iterator[None]:
    """Count a failed check of the signed-in account's password or code: an error raised inside. Raises
    RateLimitedError.

    It has a budget of its own, so that failed sign-ins of strangers do not block the signed-in owner.
    """
    REAUTHENTICATIONS.draw(str(user.pk))
    yield
    REAUTHENTICATIONS.give_back(str(user.pk))
