"""Ownership of e-mail addresses: any number of accounts may claim one, at most one has proven it (docs/accounts.md)."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction

from accounts.link_tokens import invalid_token_error
from accounts.models import EmailChange, RegistrationLock, User
from accounts.models.mails import TAKE_BACK_DAYS
from accounts.services.deletion import delete_account
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write

_SAVED_FIELDS = ["email", "proven_email", "claimed_at", "password", "is_staff", "is_superuser", "updated_at"]
_UNOPENED_DAYS = 30


def verification_is_mandatory() -> bool:
    return bool(settings.EMAIL_VERIFICATION == "mandatory")


@contextmanager
def address_write(user: User) -> Iterator[User]:
    """Lock the ownership of all addresses, then the account; yields the account as stored.

    Must not be called inside `account_write`. What the caller has read about addresses before must be read again
    inside. Raises AccountGoneError.
    """
    with transaction.atomic():
        # Always before the account lock: prove_email locks other accounts, and one order prevents deadlocks.
        RegistrationLock.acquire()
        with account_write(user):
            yield User.objects.get(pk=user.pk)


def prove_email(user: User, email: str, *, claims: bool, now: dt.datetime) -> None:
    """Set the proven address of the account and save it, including its password. Must be called inside `address_write`.

    With `claims`, the account also counts as claimed by the owner of the address. Other accounts that claim the address
    fall back to the one that they have proven. Those without one are deleted if verification is mandatory, since nobody
    could sign in to them. Raises FieldError if another account has proven the address.
    """
    if User.objects.with_proven_email(email).exclude(pk=user.pk).exists():
        raise invalid_token_error()
    user.proven_email = User.objects.normalize_email(email)
    user.proven_email_key = User.objects.fold_email(email)  # nobody has it, even if another had it before
    if claims and user.claimed_at is None:
        user.claimed_at = now
    for other in User.objects.claiming(email).exclude(pk=user.pk):
        _withdraw_claim(other, user)
    user.save(update_fields=_SAVED_FIELDS)


def _withdraw_claim(other: User, user: User) -> None:
    """Remove the claim of `other` to an address that `user` has proven."""
    try:
        with account_write(other):
            if other.proven_email:
                other.email = other.proven_email
                other.save(update_fields=["email"])
            elif verification_is_mandatory():
                # The first account of an instance is its operator's. If a stranger registered the operator's address
                # first, or its owner registered twice, the rights go to the account that has proven the address.
                user.is_staff |= other.is_staff
                user.is_superuser |= other.is_superuser
                delete_account(user=other)
    except AccountGoneError:
        return  # deleted in the meantime


def remove_unopened_accounts(*, now: dt.datetime) -> int:
    """Delete accounts whose address was not verified within 30 days; returns how many.

    Only if verification is mandatory: then nobody could have signed in to them, and anybody can register any address.
    """
    if not verification_is_mandatory():
        return 0
    since = now - dt.timedelta(days=_UNOPENED_DAYS)
    unopened = User.objects.filter(proven_email=None, last_login=None, is_staff=False, created_at__lt=since)
    removed = 0
    for user in list(unopened[:1000]):
        with address_write(user) as stored:
            # The owner may have verified the address since the query.
            if stored.proven_email is None:
                delete_account(user=stored)
                removed += 1
    return removed


def delete_old_email_changes(*, now: dt.datetime) -> None:
    """Delete the records of address changes that can no longer be undone."""
    EmailChange.unscoped.rows().filter(created_at__lte=now - dt.timedelta(days=TAKE_BACK_DAYS)).delete()
