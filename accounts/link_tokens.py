"""Tokens in mailed links: signed, for one purpose, expiring, and usable once.

A token contains a fingerprint of the value that it is to change. Once the value has changed the fingerprint no longer
matches, so that a token works once without being stored.
"""

import datetime as dt
from enum import StrEnum
from uuid import UUID

from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import EmailChange, User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import define_text

_USED_LINK = define_text("used_link", "This link was used already, or is too old. Ask for another one.")


class Purpose(StrEnum):
    """What a link is for. Part of the salt of the signature, so that a token works for no other purpose."""

    VERIFY = "verify"
    RESET = "reset"


MAX_AGE_SECONDS = {Purpose.VERIFY: 3 * 24 * 3600, Purpose.RESET: 3600}
_TAKE_BACK = "accounts.link.take-back"


def make_token(user: User, purpose: Purpose) -> str:
    """Create a token; it consists of letters, digits, `-`, `_` and `.`."""
    return _signer(purpose).sign_object([str(user.pk), _fingerprint(user, purpose)])


def read_token(token: str, purpose: Purpose) -> User:
    """The account that a token was created for. Raises FieldError, the same one for every invalid token."""
    try:
        key, fingerprint = _signer(purpose).unsign_object(token, max_age=MAX_AGE_SECONDS[purpose])
    except (signing.BadSignature, ValueError, TypeError):
        raise invalid_token_error() from None
    user = User.objects.filter(pk=parse_id(key) or UUID(int=0), is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user, purpose)):
        raise invalid_token_error()
    return user


def make_take_back_token(change: EmailChange) -> str:
    """Create a token that undoes this change of address."""
    # No fingerprint and no expiry: the row limits its lifetime (`ends_at`), and using it deletes the row.
    return signing.Signer(sep=".", salt=_TAKE_BACK).sign_object(str(change.pk))


def read_take_back_token(token: str, now: dt.datetime) -> EmailChange:
    """The change that a token undoes, with its account. Raises FieldError, the same one for every invalid token."""
    try:
        key = signing.Signer(sep=".", salt=_TAKE_BACK).unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        raise invalid_token_error() from None
    rows = EmailChange.unscoped.rows().select_related("owner").with_id(key)
    change: EmailChange | None = rows.filter(owner__is_active=True).first()
    if change is None or change.ends_at <= now:
        raise invalid_token_error()
    return change


def _signer(purpose: Purpose) -> signing.TimestampSigner:
    return signing.TimestampSigner(sep=".", salt=f"accounts.link.{purpose}")


def _fingerprint(user: User, purpose: Purpose) -> str:
    fold = User.objects.fold_email  # another spelling of the address must not invalidate the link
    if purpose is Purpose.RESET:
        state = f"{fold(user.recovery_email)}|{user.password}"
    else:
        state = f"{fold(user.email)}|{fold(user.proven_email or '')}"
    return salted_hmac(f"accounts.fingerprint.{purpose}", state, algorithm="sha256").hexdigest()[:32]


def invalid_token_error() -> FieldError:
    """The error for every token that does not work. It does not reveal why, or whether there is an account."""
    return FieldError("token", _USED_LINK)
