"""Changes of an account's name and address."""

from uuid import UUID

from accounts.models import EmailChange, MailKind, User
from accounts.models.mails import fingerprint_password
from accounts.services.addresses import address_write, verification_is_mandatory
from accounts.services.mail_queue import queue_mail
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.texts import define_text

_ADDRESS_TAKEN = define_text("address_of_another_account", "Another account has this address.")

# Limited because each change sends a mail to an address that need not be the user's.
_CHANGES = Budget("email-change", 20, 3600)


def update_profile(*, user: User, email: str, **names: object) -> tuple[User, bool]:
    """Store names and address; returns the account and whether the address changed.

    A new address has to be proven. Until then the previously proven address keeps its rights, and gets a mail with a
    link that undoes the change. Another spelling of the same address is no change.

    Raises RateLimitedError, and FieldError if another account has the address; but not if verification is mandatory,
    where nobody may find out who has an account.
    """
    email = User.objects.normalize_email(email)
    with address_write(user) as stored:
        changed = User.objects.fold_email(email) != User.objects.fold_email(stored.email)
        stored.email = email
        for name, value in names.items():
            setattr(stored, name, value)
        if stored.email_verified:
            stored.proven_email = email  # in the new spelling
        elif changed:
            others = User.objects.with_email(email).exclude(pk=stored.pk)
            if not verification_is_mandatory() and others.exists():
                raise FieldError("email", _ADDRESS_TAKEN)
            _CHANGES.draw(str(stored.pk))
            _queue_mails(stored)
        stored.save(update_fields=["email", "proven_email", *names, "updated_at"])
    return stored, changed


def reload_account(user_id: UUID) -> User | None:
    """The account as stored now; None if it was deleted or switched off."""
    return User.objects.filter(pk=user_id, is_active=True).first()


def load_profile(*, user: User) -> User:
    """The account as stored now. Raises MissingError."""
    stored = User.objects.filter(pk=user.pk).first()
    if stored is None:
        raise MissingError
    return stored


def _queue_mails(user: User) -> None:
    """Mail the new address, to prove it, and the proven one, to undo the change."""
    queue_mail(kind=MailKind.VERIFY, address=user.email, user=user)
    if user.proven_email:
        change = EmailChange.objects.create(
            owner=user,
            old_email=user.proven_email,
            new_email=user.email,
            password_mark=fingerprint_password(user.password),
        )
        queue_mail(kind=MailKind.CHANGED, address=change.old_email, user=user, change=change)
