"""Tokens in mailed links: signed, for one purpose, expiring, and spent by what they are for.

A token carries a fingerprint of what it is to change. Once that has changed the fingerprint fits no more: nothing has
to be stored for a token to be used only once.
"""

import datetime as dt
from enum import StrEnum
from uuid import UUID

from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import EmailChange, User
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.errors import FieldError


class Purpose(StrEnum):
    """What a link does, and by its salt cannot be made to do otherwise."""

    VERIFY = "verify"
    RESET = "reset"


MAX_AGE_SECONDS = {Purpose.VERIFY: 3 * 24 * 3600, Purpose.RESET: 3600}
_TAKE_BACK = "accounts.link.take-back"


def make_token(user: User, purpose: Purpose) -> str:
    """A token of letters, digits, `-`, `_` and `.`."""
    return _signer(purpose).sign_object([str(user.pk), _fingerprint(user, purpose)])


def read_token(token: str, purpose: Purpose) -> User:
    """The account a token is for. Raises FieldError, the same for whatever is wrong with it."""
    try:
        key, fingerprint = _signer(purpose).unsign_object(token, max_age=MAX_AGE_SECONDS[purpose])
    except (signing.BadSignature, ValueError, TypeError):
        raise refusal() from None
    user = User.objects.filter(pk=parse_id(key) or UUID(int=0), is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user, purpose)):
        raise refusal()
    return user


def make_take_back_token(change: EmailChange) -> str:
    """A token that takes this change of address back. Its row is what spends it, and what ends it."""
    return signing.Signer(sep=".", salt=_TAKE_BACK).sign_object(str(change.pk))


def read_take_back_token(token: str, now: dt.datetime) -> EmailChange:
    """The change that a token takes back, with its account. Raises FieldError, the same for whatever is wrong."""
    try:
        key = signing.Signer(sep=".", salt=_TAKE_BACK).unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        raise refusal() from None
    rows = EmailChange.unscoped.rows().select_related("owner").with_id(key)
    change: EmailChange | None = rows.filter(owner__is_active=True).first()
    if change is None or change.ends_at <= now:
        raise refusal()
    return change


def _signer(purpose: Purpose) -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt=f"accounts.link.{purpose}")


def _fingerprint(user: User, purpose: Purpose) -> str:
    fold = User.objects.fold
    if purpose is Purpose.RESET:
        state = f"{fold(user.recovery_email)}|{user.password}"
    else:
        state = f"{fold(user.email)}|{fold(user.proven_email or '')}"
    return salted_hmac(f"accounts.fingerprint.{purpose}", state, algorithm="sha256").hexdigest()[:32]


def refusal() -> FieldError:
    """What every token that does not work is answered with."""
    return FieldError("token", "This link was used already, or is too old. Ask for another one.")
