"""Actions by mailed link: verify an address, reset a password, undo a change of address."""

import datetime as dt

from accounts.link_tokens import Purpose, read_take_back_token, read_token
from accounts.models import MailKind, User
from accounts.models.mails import fingerprint_password
from accounts.passwords import hash_password
from accounts.services.access_revocation import revoke_access, revoke_access_of_others
from accounts.services.addresses import address_write, prove_email
from accounts.services.mail_queue import queue_mail
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.texts import define_text

_WRONG_PASSWORD = define_text("not_the_account_password", "This is not the password of the account.")

# Passwords sent along with a verification link. A budget of their own, so that neither sign-ins nor the signed-in owner
# are blocked by failures here, nor the other way round.
_LINK_PASSWORDS = Budget("link-password", 10, 15 * 60)


class SignInRequiredError(DomainError):
    """The link alone does not prove that its reader owns the account."""

    message = define_text("sign_in_required", "Sign in to the account, or send its password with the link.")


class AddressTakenError(DomainError):
    """Another account has proven the old address in the meantime."""

    message = define_text(
        "address_taken",
        "Another account has this address now. Delete that one or change its address first, then try again.",
    )


def verify_email(*, token: str, signed_in: User | None, password: str | None, now: dt.datetime) -> User:
    """Prove the address that the token was mailed to; returns the account. `signed_in`: the account of the session.

    An account that already has a proven address exchanges it only with proof of ownership: a session of the account, or
    its password. That proof also claims the account. Raises FieldError, SignInRequiredError, RateLimitedError.
    """
    user = read_token(token, Purpose.VERIFY)
    owner = signed_in if signed_in == user else None
    if owner is None and password is not None:
        _LINK_PASSWORDS.draw(str(user.pk))
        if not user.check_password(password):
            raise SignInRequiredError(_WRONG_PASSWORD)
        _LINK_PASSWORDS.give_back(str(user.pk))
        owner = user
    with address_write(user):
        stored = read_token(token, Purpose.VERIFY)  # again: another request may have used it before the lock
        # If the password has changed since, the session has ended, and the password that was sent is wrong.
        is_owner = owner is not None and owner.password == stored.password
        if stored.proven_email and not is_owner:
            raise SignInRequiredError
        prove_email(stored, stored.email, claims=is_owner, now=now)
    return stored


def reset_password(*, token: str, password: str, now: dt.datetime) -> User:
    """Set the password of the account that the token was mailed to, and revoke its sessions, tokens and known devices.

    The link also proves the address, since its reader receives mail there. Raises FieldError.
    """
    user = read_token(token, Purpose.RESET)
    hashed = hash_password(password)  # slow by design, so outside the lock
    with address_write(user):
        stored = read_token(token, Purpose.RESET)  # again, as above
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
