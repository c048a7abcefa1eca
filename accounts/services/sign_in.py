"""Sign-in by password, rate-limited so that guessing is slow but the owner is never locked out for good.

A browser that has signed in to an account before is a sign-in device of it, recognised by a cookie. Its attempts have a
rate limit apart from those of strangers.
"""

import datetime as dt
import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.cookies import set_cookie
from accounts.models import KnownDevice, User
from accounts.models.user import verification_is_mandatory
from accounts.passwords import is_password
from accounts.services.second_factor import MfaRequiredError, consume_code, has_second_factor
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError, RateLimitedError
from contacts_project.kernel.metrics import Counter
from contacts_project.kernel.ownership.account_lock import account_lock
from contacts_project.kernel.rate_limits import RateLimit, forget_hits
from contacts_project.kernel.texts import define_text

SIGN_INS = Counter("contacts_sign_ins_total", "Attempts to sign in, by what came of them.", ("outcome",))
ATTEMPTS_BY_ADDRESS = RateLimit("login-address", 10, 15 * 60)
# Five times that of an address: a stranger at one address must not use up the account's, which would lock out the
# owner's new device elsewhere. Refused attempts do not count, so the limit ends, however long others go on.
ATTEMPTS_BY_ACCOUNT = RateLimit("login-account", 5 * ATTEMPTS_BY_ADDRESS.limit, 15 * 60)
# One rate limit for all sign-in devices of an account: collecting many cookies must not give more attempts.
ATTEMPTS_BY_DEVICE = RateLimit("login-known-devices", 10, 15 * 60)
# Attempts of a signed-in caller at the password or code that a sensitive change asks for.
REAUTHENTICATIONS = RateLimit("account-proof", 10, 15 * 60)
UNUSABLE_HASH = "!"
COOKIE = "known_device"
MAX_DEVICES = 20
_LIFETIME = dt.timedelta(days=365)  # since the last sign-in


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

    Failures count against two rate limits, of the client address and of the account. The sign-in devices of the account
    share a rate limit of their own instead, so that strangers who fail on purpose cannot lock the owner out.
    """
    # Drawn before the check and given back on success: parallel guesses cannot all pass before the first is counted.
    attempt = draw_attempt(request, User.objects.with_email(email).first(), email)
    user = _find_by_password(email, password)
    if user is None or not user.is_active:
        raise InvalidCredentialsError
    if verification_is_mandatory() and User.objects.fold_email(user.proven_email or "") != User.objects.fold_email(
        email
    ):
        attempt.undo()
        raise EmailUnverifiedError
    if has_second_factor(user):
        if not code:
            # The password was right, so this is no failed attempt; guesses of the code are counted on the next one.
            attempt.undo()
            raise MfaRequiredError
        if not consume_code(user=user, code=code, now=now):
            raise InvalidCredentialsError
    attempt.undo()
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
    # An unknown address has a rate limit too: whether attempts are limited must not reveal whether an account exists.
    account = str(user.pk) if user else User.objects.fold_email(email)
    if is_sign_in_device(request, user):
        attempt = SignInAttempt(((ATTEMPTS_BY_DEVICE, account),))
    else:
        attempt = SignInAttempt(
            ((ATTEMPTS_BY_ADDRESS, address_block(client_address(request))), (ATTEMPTS_BY_ACCOUNT, account))
        )
    with transaction.atomic():  # both rate limits or none
        for limit, subject in attempt.hits:
            limit.hit(subject, hit_for=account)
    return attempt


def reset_attempts(user: User) -> None:
    """Reset the failed attempts for the account, including those of the client addresses that they came from."""
    forget_hits(str(user.pk))
    REAUTHENTICATIONS.clear(str(user.pk))


@dataclass(frozen=True)
class SignInAttempt:
    """One attempt to sign in: the rate limits that it has counted against, each with its subject."""

    hits: tuple[tuple[RateLimit, str], ...]

    def undo(self) -> None:
        """Undo the hits, since only failures count."""
        for limit, subject in self.hits:
            limit.undo(subject)


@contextmanager
def reauthentication(user: User) -> Iterator[None]:
    """Count a failed check of the signed-in account's password or code: an error raised inside. Raises
    RateLimitedError.

    It has a rate limit of its own, so that failed sign-ins of strangers do not block the signed-in owner.
    """
    REAUTHENTICATIONS.hit(str(user.pk))
    yield
    REAUTHENTICATIONS.undo(str(user.pk))


def is_sign_in_device(request: HttpRequest, user: User | None) -> bool:
    """Whether the browser has signed in to the account before."""
    # The query runs without an account too: the response time must not reveal whether there is one.
    devices = KnownDevice.unscoped.rows().filter(digest=_digest(request.COOKIES.get(COOKIE, "")))
    owner_id = devices.values_list("owner_id", flat=True).first()
    return user is not None and owner_id == user.pk


def remember_device(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie that makes the browser a sign-in device of the account; an existing one is renewed."""
    token, now = request.COOKIES.get(COOKIE, ""), timezone.now()
    with account_lock(user):
        devices = KnownDevice.objects.owned_by(user)
        if not token or not devices.filter(digest=_digest(token)).update(last_used_at=now):
            token = secrets.token_urlsafe(32)
            KnownDevice.objects.create(owner=user, digest=_digest(token), last_used_at=now)
            latest = devices.order_by("-last_used_at", "-id").values_list("pk", flat=True)[:MAX_DEVICES]
            devices.exclude(pk__in=list(latest)).delete()
    set_cookie(response, COOKIE, token, seconds=int(_LIFETIME.total_seconds()), path="/")


def forget_devices(user: User) -> None:
    """Delete all sign-in devices of the account, and their count of failed attempts."""
    KnownDevice.objects.owned_by(user).delete()
    ATTEMPTS_BY_DEVICE.clear(str(user.pk))


def delete_unused_devices(*, now: dt.datetime) -> None:
    """Delete devices whose cookie has expired."""
    KnownDevice.unscoped.rows().filter(last_used_at__lt=now - _LIFETIME).delete()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
