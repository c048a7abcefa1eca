"""The account's own name and address."""

from typing import Any

from accounts.models import MailKind, RegistrationTurn, User
from accounts.services.mail_orders import order_mail
from contacts_project.kernel.api.errors import FieldError
from contacts_project.kernel.ownership.writing import account_write


def update_profile(*, user: User, email: str, **names: Any) -> tuple[User, bool]:
    """Store names and address; returns the account and whether its address is another one now, to be verified.

    The same address in another spelling is no change. Raises FieldError for an address that is taken.
    """
    email = User.objects.normalize_email(email)
    with account_write(user):
        RegistrationTurn.take()
        fresh = User.objects.get(pk=user.pk)
        if User.objects.with_email(email).exclude(pk=user.pk).exists():
            raise FieldError("email", "Another account has this address.")
        changed = User.objects.fold(email) != User.objects.fold(fresh.email)
        if changed:
            fresh.email_verified_at = None
        fresh.email = email
        for name, value in names.items():
            setattr(fresh, name, value)
        if changed:
            order_mail(kind=MailKind.VERIFY, address=email, user=fresh)
        fresh.save(update_fields=["email", "email_verified_at", *names, "updated_at"])
    return fresh, changed
