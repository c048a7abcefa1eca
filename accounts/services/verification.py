"""Proof that an address, or an account whose password is lost, is its owner's."""

import datetime as dt

from django.contrib.auth.hashers import make_password

from accounts.link_tokens import Purpose, read_token
from accounts.models import User
from accounts.services.claiming import shut_out_maker
from accounts.services.known_devices import forget_devices
from accounts.services.sessions import end_sessions
from contacts_project.kernel.ownership.writing import account_write


def verify_email(*, token: str, now: dt.datetime) -> User:
    """Mark the address verified that the token was mailed to. Raises FieldError."""
    user = read_token(token, Purpose.VERIFY)
    with account_write(user):
        user = read_token(token, Purpose.VERIFY)  # again: the turn may have had to be waited for
        user.email_verified_at = now
        user.save(update_fields=["email_verified_at", "updated_at"])
    return user


def reset_password(*, token: str, password: str, now: dt.datetime) -> User:
    """Set the password of the account that the token was mailed to, and end all its sessions. Raises FieldError.

    Who reads the mail has the address: it is verified by the way. If it had not been before, the account may have been
    made by somebody else, who is shut out.
    """
    user = read_token(token, Purpose.RESET)
    hashed = make_password(password)
    with account_write(user):
        user = read_token(token, Purpose.RESET)
        if not user.email_verified:
            shut_out_maker(user)
        user.password = hashed
        user.email_verified_at = user.email_verified_at or now
        user.save(update_fields=["password", "email_verified_at", "updated_at"])
        end_sessions(user=user)
        forget_devices(user)
    return user
