"""Proof that an address, or an account whose password is lost, is its owner's."""

import datetime as dt

from django.contrib.auth.hashers import make_password

from accounts.link_tokens import Purpose, read_take_back_token, read_token
from accounts.models import MailKind, User
from accounts.models.email_change import password_mark
from accounts.services.access_revocation import end_access, revoke_access_of_others
from accounts.services.addresses import address_write, prove_email
from accounts.services.mail_queue import queue_mail
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.errors import DomainError

# Guesses beside a link that proves an address: apart from those of sign-in and of sessions, which they are nothing to.
_LINK_PASSWORDS = Budget("link-password", 10, 15 * 60)


class SignInRequiredError(DomainError):
    """The link alone does not prove that its reader holds the account."""

    message = "Sign in to the account, or send its password with the link."


class AddressTakenError(DomainError):
    """The old address belongs to another account by now."""

    message = "Another account has this address now. Delete that one or change its address first, then try again."


def verify_email(*, token: str, signed_in: User | None, password: str | None, now: dt.datetime) -> User:
    """Prove the address that the token was mailed to. `signed_in`: the account of the session behind the request.

    An account that has a proven address leaves it for another only when its owner is there: in a session of it, or
    with its password. So is an account claimed. Raises FieldError, SignInRequiredError, RateLimitedError.
    """
    user = read_token(token, Purpose.VERIFY)
    owner = signed_in if signed_in == user else None
    if owner is None and password is not None:
        _LINK_PASSWORDS.draw(str(user.pk))
        if not user.check_password(password):
            raise SignInRequiredError("This is not the password of the account.")
        _LINK_PASSWORDS.give_back(str(user.pk))
        owner = user
    with address_write(user):
        stored = read_token(token, Purpose.VERIFY)  # again: the lock may have had to be waited for
        # A new password has ended the session, or is not the one that was sent.
        is_owners = owner is not None and owner.password == stored.password
        if stored.proven_email and not is_owners:
            raise SignInRequiredError
        prove_email(stored, stored.email, claims=is_owners, now=now)
    return stored


def reset_password(*, token: str, password: str, now: dt.datetime) -> User:
    """Set the password of the account that the token was mailed to; all its sessions, tokens and known devices end.

    Who reads the mail has the address: it is proven by the way. An account that nobody had claimed is theirs alone from
    now on. Raises FieldError.
    """
    user = read_token(token, Purpose.RESET)
    hashed = make_password(password)
    with address_write(user):
        stored = read_token(token, Purpose.RESET)
        if not stored.is_claimed:
            revoke_access_of_others(stored)
            stored.email = stored.recovery_email
        end_access(stored)
        stored.password = hashed
        prove_email(stored, stored.recovery_email, claims=True, now=now)
    return stored


def take_back_email(*, token: str, now: dt.datetime) -> User:
    """Give an account back the address that it had before a change, proven as it was.

    Whoever made the change may have stolen a session or a token: all of them end, and so do a second factor, sign-ins
    by a provider and changes of address made since then; channels are switched off. A password set since then is no
    more; a mail with a link for a new one goes to the address. Raises FieldError, AddressTakenError.
    """
    user = read_take_back_token(token, now).owner
    with address_write(user):
        change = read_take_back_token(token, now)
        stored, email = change.owner, change.old_email
        if User.objects.with_proven_email(email).exclude(pk=stored.pk).exists():
            raise AddressTakenError
        revoke_access_of_others(stored, since=change.created_at)
        if password_mark(stored.password) != change.password_mark:
            stored.set_unusable_password()
        stored.email = email
        prove_email(stored, email, claims=False, now=now)
        queue_mail(kind=MailKind.RESET, address=email)
    return stored
