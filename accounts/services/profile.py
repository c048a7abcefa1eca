"""What the owner changes of the account: name, address, password, preferences."""

from uuid import UUID

from django.db import transaction

from accounts.models import EmailChange, MailKind, User
from accounts.models.mails import fingerprint_password
from accounts.models.user import verification_is_mandatory
from accounts.passwords import WRONG_PASSWORD, hash_password
from accounts.services.addresses import address_write
from accounts.services.mail import queue_mail
from accounts.services.sessions import end_sessions
from accounts.signals import preferences_changed, translate_account
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text

_NO_PASSWORD = define_text(
    "account_without_password", "This account has no password: it signs in through its provider."
)
_ADDRESS_TAKEN = define_text("address_of_another_account", "Another account has this address.")

# Limited because each change sends a mail to an address that need not be the user's.
_CHANGES = RateLimit("email-change", 20, 3600)
# These decide when a reminder is due. After a change, all of the account's next reminders are computed again.
_REMINDER_PREFERENCES = {
    "time_zone",
    "reminder_hour",
    "leap_day_rule",
    "default_reminder_lead_days",
    "weekly_digest_enabled",
    "weekly_digest_weekday",
}


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
            _CHANGES.hit(str(stored.pk))
            _queue_mails(stored)
        stored.save(update_fields=["email", "proven_email", *names, "updated_at"])
    return stored, changed


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


def change_password(*, user: User, current: str, new: str, keep_session: str | None) -> User:
    """Set a new password and end every session except `keep_session`; returns the stored account. Raises FieldError."""
    if not user.has_usable_password():
        raise FieldError("currentPassword", _NO_PASSWORD)
    if not user.check_password(current):
        raise FieldError("currentPassword", WRONG_PASSWORD)
    hashed = hash_password(new)  # slow by design, so outside the lock
    with account_write(user):
        fresh = User.objects.get(pk=user.pk)
        if fresh.password != user.password:  # a concurrent request has changed it
            raise FieldError("currentPassword", WRONG_PASSWORD)
        fresh.password = hashed
        fresh.save(update_fields=["password", "updated_at"])
        end_sessions(user=fresh, keep=keep_session)
    return fresh


def change_preferences(*, user: User, values: JsonObject) -> User:
    """Store `values` (by model field name); returns the stored account. Sends `preferences_changed` if any differs."""
    with account_write(user):
        fresh = User.objects.get(pk=user.pk)
        changed = {name for name, value in values.items() if getattr(fresh, name) != value}
        if not changed:
            return fresh
        for name in changed:
            setattr(fresh, name, values[name])
        if changed & _REMINDER_PREFERENCES:
            # Only a flag: the minutely scan computes them, which takes too long under the lock.
            fresh.reminders_stale = True
        fresh.save(update_fields=[*changed, "reminders_stale", "updated_at"])
        if "language" in changed:
            translate_account(fresh.pk, fresh.language)
        arguments = {"user_id": fresh.pk, "fields": changed}
        transaction.on_commit(lambda: preferences_changed.send(sender=User, **arguments), robust=True)
    return fresh


def reload_account(user_id: UUID) -> User | None:
    """The account as stored now; None if it was deleted or switched off."""
    return User.objects.filter(pk=user_id, is_active=True).first()


def load_profile(*, user: User) -> User:
    """The account as stored now. Raises MissingError."""
    stored = User.objects.filter(pk=user.pk).first()
    if stored is None:
        raise MissingError
    return stored
