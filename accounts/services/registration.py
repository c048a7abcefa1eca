"""A new account."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from rest_framework import status

from accounts.lifecycle import start_account
from accounts.models import MailKind, RegistrationTurn, User
from accounts.services.mail_orders import order_mail
from contacts_project.kernel.api.errors import ApiError, FieldError
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.ownership.writing import account_write

DEMO_EMAIL = "demo@example.org"


class RegistrationClosedError(ApiError):
    """The operator takes no new accounts."""

    status_code = status.HTTP_403_FORBIDDEN
    code = "registration_closed"
    message = "This service takes no new accounts. Its operator can invite you."


@dataclass(frozen=True)
class Registration:
    """What came of it. `is_real` is False where the address was taken, which the answer must not tell."""

    user: User
    is_real: bool


def awaits_operator() -> bool:
    """Whether the first account of the instance has yet to be made: that of `seed_demo` is nobody's."""
    return not User.objects.exclude(email=DEMO_EMAIL, is_superuser=False).exists()


def registration_is_open() -> bool:
    """Whether a stranger may make an account now."""
    if settings.REGISTRATION == "first":
        return awaits_operator()
    return bool(settings.REGISTRATION == "open")


def verification_is_mandatory() -> bool:
    return bool(settings.EMAIL_VERIFICATION == "mandatory")


def register_account(*, email: str, password: str | None, **fields: Any) -> Registration:
    """Make an account with all that an account starts with, in one transaction.

    The first account of the instance becomes its operator. A taken address is a FieldError; where verification is
    mandatory it is not told: the same work is done for a decoy, which is rolled back. Raises RegistrationClosedError.
    """
    if not registration_is_open():
        raise RegistrationClosedError
    hashed = make_password(password)  # slow on purpose: not inside the transaction
    with transaction.atomic():
        RegistrationTurn.take()
        if not registration_is_open():
            raise RegistrationClosedError
        is_taken = User.objects.with_email(email).exists()
        if is_taken and not verification_is_mandatory():
            raise FieldError("email", "There is an account with this address. Sign in, or reset the password.")
        is_first = awaits_operator()
        user = User(
            email=f"{new_id()}@decoy.invalid" if is_taken else User.objects.normalize_email(email),
            password=hashed,
            is_staff=is_first,
            is_superuser=is_first,
            **fields,
        )
        user.save(force_insert=True)
        with account_write(user):
            start_account(user)
        if is_taken:
            transaction.set_rollback(True)
        elif not user.email_verified:
            order_mail(kind=MailKind.VERIFY, address=user.email, user=user)
    if is_taken:
        user.email = User.objects.normalize_email(email)
        order_mail(kind=MailKind.TAKEN, address=user.email)
    return Registration(user, is_real=not is_taken)
