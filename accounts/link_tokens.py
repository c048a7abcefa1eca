"""Tokens in mailed links: signed, for one purpose, expiring, and spent by what they are for.

A token carries a fingerprint of what it is to change. Once that has changed the fingerprint fits no more: nothing has
to be stored for a token to be used only once.
"""

from enum import StrEnum
from uuid import UUID

from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import User
from contacts_project.kernel.api.errors import FieldError
from contacts_project.kernel.api.ids import parse_id


class Purpose(StrEnum):
    """What a link does, and by its salt cannot be made to do otherwise."""

    VERIFY = "verify"
    RESET = "reset"


MAX_AGE_SECONDS = {Purpose.VERIFY: 3 * 24 * 3600, Purpose.RESET: 3600}


def make_token(user: User, purpose: Purpose) -> str:
    """A token of letters, digits, `-`, `_` and `.`."""
    return _signer(purpose).sign_object([str(user.pk), _fingerprint(user, purpose)])


def read_token(token: str, purpose: Purpose) -> User:
    """The account a token is for. Raises FieldError, the same for whatever is wrong with it."""
    try:
        key, fingerprint = _signer(purpose).unsign_object(token, max_age=MAX_AGE_SECONDS[purpose])
    except (signing.BadSignature, ValueError, TypeError):
        raise _refusal() from None
    user = User.objects.filter(pk=parse_id(key) or UUID(int=0), is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user, purpose)):
        raise _refusal()
    return user


def _signer(purpose: Purpose) -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt=f"accounts.link.{purpose}")


def _fingerprint(user: User, purpose: Purpose) -> str:
    changed = user.password if purpose is Purpose.RESET else str(user.email_verified_at)
    state = f"{User.objects.fold(user.email)}|{changed}"
    return salted_hmac(f"accounts.fingerprint.{purpose}", state, algorithm="sha256").hexdigest()[:32]


def _refusal() -> FieldError:
    return FieldError("token", "This link was used already, or is too old. Ask for another one.")
