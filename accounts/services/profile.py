"""The account's own name and address."""

from typing import Any
from uuid import UUID

from accounts.models import EmailChange, MailKind, User
from accounts.models.email_change import password_mark
from accounts.services.addresses import address_write, verification_is_mandatory
from accounts.services.mail_queue import queue_mail
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import FieldError, MissingError

# Each sends a mail to an address that somebody typed.
_CHANGES = Budget("email-change", 20, 3600)
_ACCOUNT = CompiledQuery(lambda user_id: User.objects.filter(pk=user_id, is_active=True))


def update_profile(*, user: User, email: str, **names: Any) -> tuple[User, bool]:
    """Store names and address; returns the account and whether its address is another one now.

    That one is to be proven: until then, whatever the account had proven before keeps its rights, and gets a mail that
    can take the change back. The same address in another spelling is no change. An address that others have is a
    FieldError, but not where verification is mandatory: there nobody is told who has one. Raises RateLimitedError.
    """
    email = User.objects.normalize_email(email)
    with address_write(user) as stored:
        changed = not _is_same(email, stored.email)
        stored.email = email
        for name, value in names.items():
            setattr(stored, name, value)
        if stored.email_verified:
            stored.proven_email = email  # as it is spelled now
        elif changed:
            _check_free(stored)
            _CHANGES.draw(str(stored.pk))
            _queue_mails(stored)
        stored.save(update_fields=["email", "proven_email", *names, "updated_at"])
    return stored, changed


def reload_account(user_id: UUID) -> User | None:
    """The account as it is stored now, for who has asked as it before; None where it was deleted or switched off."""
    found: User | None = _ACCOUNT.instance(user_id=user_id)
    return found


def load_profile(*, user: User) -> User:
    """The account as it is stored now, whatever was read of it before. Raises MissingError."""
    stored = User.objects.filter(pk=user.pk).first()
    if stored is None:
        raise MissingError
    return stored


def _check_free(user: User) -> None:
    if not verification_is_mandatory() and User.objects.with_email(user.email).exclude(pk=user.pk).exists():
        raise FieldError("email", "Another account has this address.")


def _is_same(one: str, other: str) -> bool:
    return User.objects.fold(one) == User.objects.fold(other)


def _queue_mails(user: User) -> None:
    """To the new address, to prove it; to the proven one, to take the change back."""
    queue_mail(kind=MailKind.VERIFY, address=user.email, user=user)
    if user.proven_email:
        change = EmailChange.objects.create(
            owner=user,
            old_email=user.proven_email,
            new_email=user.email,
            password_mark=password_mark(user.password),
        )
        queue_mail(kind=MailKind.CHANGED, address=change.old_email, user=user, change=change)
