"""Ownership of e-mail addresses: any number of accounts may claim one, at most one has proven it (docs/accounts.md).

Links in mails prove an address, set a new password, or undo a change of address.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from accounts.models import (
    ApiToken,
    AppCode,
    EmailChange,
    MailKind,
    OidcIdentity,
    RecoveryCode,
    RegistrationLock,
    TotpDevice,
    User,
)
from accounts.models.mails import TAKE_BACK_DAYS, fingerprint_password
from accounts.models.user import verification_is_mandatory
from accounts.passwords import hash_password
from accounts.services.deletion import delete_account
from accounts.services.mail import LinkPurpose, invalid_token_error, queue_mail, read_link_token, read_take_back_token
from accounts.services.sessions import end_sessions
from accounts.services.sign_in import forget_devices
from accounts.services.tokens import revoke_tokens
from accounts.signals import release_account
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text

_WRONG_PASSWORD = define_text("not_the_account_password", "This is not the password of the account.")

# Passwords sent along with a verification link. A rate limit of their own, so that neither sign-ins nor the signed-in
# owner are blocked by failures here, nor the other way round.
_LINK_PASSWORDS = RateLimit("link-password", 10, 15 * 60)
_SAVED_FIELDS = ["email", "proven_email", "claimed_at", "password", "is_staff", "is_superuser", "updated_at"]
_UNOPENED_DAYS = 30


class SignInRequiredError(DomainError):
    """The link alone does not prove that its reader owns the account."""

    message = define_text("sign_in_required", "Sign in to the account, or send its password with the link.")


class AddressTakenError(DomainError):
    """Another account has proven the old address in the meantime."""

    message = define_text(
        "address_taken",
        "Another account has this address now. Delete that one or change its address first, then try again.",
    )


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


def revoke_access(user: User) -> None:
    """End every session, API token and app code of the account, and forget its sign-in devices."""
    with account_write(user):
        forget_devices(user)
        end_sessions(user=user)
        AppCode.objects.owned_by(user).delete()
        revoke_tokens(user, ApiToken.objects.owned_by(user))


def revoke_access_of_others(user: User, *, since: dt.datetime | None = None) -> None:
    """Revoke all access, for an account whose owner has just proven that it is theirs.

    Ends sessions and tokens, and deletes the second factor, the provider identities and the links that undo a change
    of address; of these three only what was created or changed after `since`, if given. Other apps switch off their
    notifications (`on_account_claimed`). Data and password stay: the caller replaces the password.
    """
    with account_write(user):
        revoke_access(user)
        for model in (TotpDevice, RecoveryCode, OidcIdentity, EmailChange):
            rows = model.objects.owned_by(user)
            (rows.filter(updated_at__gte=since) if since else rows).delete()
        release_account(user.pk)


def verify_email(*, token: str, signed_in: User | None, password: str | None, now: dt.datetime) -> User:
    """Prove the address that the token was mailed to; returns the account. `signed_in`: the account of the session.

    An account that already has a proven address exchanges it only with proof of ownership: a session of the account, or
    its password. That proof also claims the account. Raises FieldError, SignInRequiredError, RateLimitedError.
    """
    user = read_link_token(token, LinkPurpose.VERIFY)
    owner = signed_in if signed_in == user else None
    if owner is None and password is not None:
        _LINK_PASSWORDS.hit(str(user.pk))
        if not user.check_password(password):
            raise SignInRequiredError(_WRONG_PASSWORD)
        _LINK_PASSWORDS.undo(str(user.pk))
        owner = user
    with address_write(user):
        stored = read_link_token(token, LinkPurpose.VERIFY)  # again: another request may have used it before the lock
        # If the password has changed since, the session has ended, and the password that was sent is wrong.
        is_owner = owner is not None and owner.password == stored.password
        if stored.proven_email and not is_owner:
            raise SignInRequiredError
        prove_email(stored, stored.email, claims=is_owner, now=now)
    return stored


def reset_password(*, token: str, password: str, now: dt.datetime) -> User:
    """Set the password of the account that the token was mailed to, and revoke its sessions, tokens and
    sign-in devices.

    The link also proves the address, since its reader receives mail there. Raises FieldError.
    """
    user = read_link_token(token, LinkPurpose.RESET)
    hashed = hash_password(password)  # slow by design, so outside the lock
    with address_write(user):
        stored = read_link_token(token, LinkPurpose.RESET)  # again, as above
        if not stored.is_claimed:
            # Somebody else may have registered the address: a second factor or provider of theirs must not stay.
            revoke_access_of_others(stored)
            stored.email = stored.recovery_email
        revoke_access(stored)
        stored.password = hashed
        prove_email(stored, stored.recovery_email, claims=True, now=now)
    return stored


def take_back_email(*, token: str, now: dt.datetime) -> User:
    """Undo a change of address: the account has its old address again, as proven. Returns the account.

    Whoever made the change may have stolen a session or a token, so all of them are revoked, as are a second factor,
    provider identities and changes of address made since; notification channels are switched off. A password set since
    then is removed. A mail with a link to set a new one is queued. Raises FieldError, AddressTakenError.
    """
    user = read_take_back_token(token, now).owner
    with address_write(user):
        change = read_take_back_token(token, now)
        stored, email = change.owner, change.old_email
        if User.objects.with_proven_email(email).exclude(pk=stored.pk).exists():
            raise AddressTakenError
        revoke_access_of_others(stored, since=change.created_at)
        if fingerprint_password(stored.password) != change.password_mark:
            stored.set_unusable_password()
        stored.email = email
        prove_email(stored, email, claims=False, now=now)
        queue_mail(kind=MailKind.RESET, address=email)
    return stored


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
