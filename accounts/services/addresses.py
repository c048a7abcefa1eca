"""Whose an address is: any number of accounts may claim it, one has proven it (docs/accounts.md)."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction

from accounts.link_tokens import refusal
from accounts.models import EmailChange, RegistrationLock, User
from accounts.models.email_change import TAKE_BACK_DAYS
from accounts.services.deletion import delete_account
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write

_SAVED = ["email", "proven_email", "claimed_at", "password", "is_staff", "is_superuser", "updated_at"]
_UNOPENED_DAYS = 30


def verification_is_mandatory() -> bool:
    return bool(settings.EMAIL_VERIFICATION == "mandatory")


@contextmanager
def address_write(user: User) -> Iterator[User]:
    """Lock what decides whose an address is, then the account; yields it as stored. Never inside an account_write.

    Whatever was read of addresses before has to be read again inside. Raises AccountGoneError.
    """
    with transaction.atomic():
        RegistrationLock.take()
        with account_write(user):
            yield User.objects.get(pk=user.pk)


def prove_email(user: User, email: str, *, claims: bool, now: dt.datetime) -> None:
    """Make the address the account's proven one, and with `claims` the account its owner's; save it, with its password.

    Others who claim the address fall back to the one that they have proven. Those that have proven none go where
    verification is mandatory: nobody could sign in to them. Inside address_write. Raises FieldError where another
    account has proven the address.
    """
    if User.objects.with_proven_email(email).exclude(pk=user.pk).exists():
        raise refusal()
    user.proven_email = User.objects.normalize_email(email)
    if claims and user.claimed_at is None:
        user.claimed_at = now
    for other in User.objects.claiming(email).exclude(pk=user.pk):
        _withdraw(other, user)
    user.save(update_fields=_SAVED)


def _withdraw(other: User, user: User) -> None:
    """Take the claim of `other` back for `user`, who has proven the address."""
    try:
        with account_write(other):
            if other.proven_email:
                other.email = other.proven_email
                other.save(update_fields=["email"])
            elif verification_is_mandatory():
                # The first account of an instance is its operator's, also when its owner had to register again.
                user.is_staff |= other.is_staff
                user.is_superuser |= other.is_superuser
                delete_account(user=other)
    except AccountGoneError:
        return  # its owner deleted it meanwhile


def remove_unopened_accounts(*, now: dt.datetime) -> int:
    """Remove the accounts whose first mail nobody has opened in 30 days; how many.

    Where verification is mandatory nobody could sign in to them, and anybody may register any address.
    """
    if not verification_is_mandatory():
        return 0
    since = now - dt.timedelta(days=_UNOPENED_DAYS)
    unopened = User.objects.filter(proven_email=None, last_login=None, is_staff=False, created_at__lt=since)
    removed = 0
    for user in list(unopened[:1000]):
        with address_write(user) as stored:
            if stored.proven_email is None:
                delete_account(user=stored)
                removed += 1
    return removed


def delete_old_email_changes(*, now: dt.datetime) -> None:
    """Remove the changes that can be taken back no more."""
    EmailChange.unscoped.rows().filter(created_at__lte=now - dt.timedelta(days=TAKE_BACK_DAYS)).delete()
