"""Deletion of accounts."""

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from accounts.models import AccountMail, ApiToken, PendingFileDeletion, User
from accounts.passwords import WRONG_PASSWORD, is_password
from accounts.services.sessions import end_sessions, record_ended_tokens
from accounts.signals import account_files
from accounts.vocabularies import EndReason
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text

_PASSWORD_NEEDED = define_text("password_needed", "The account's password is needed.")


def check_deletion_password(user: User, password: str | None) -> None:
    """Raises FieldError if the account has a password and it is missing or wrong."""
    if not user.has_usable_password():
        return
    if password is None:
        raise FieldError("password", _PASSWORD_NEEDED)
    if not is_password(password, user.password):
        raise FieldError("password", WRONG_PASSWORD)


def delete_account(*, user: User) -> None:
    """Delete the account with all its rows and files. Queued tasks for it find no row and do nothing."""
    with account_write(user):
        # Files are deleted after the commit, since a file cannot be rolled back. Their paths are stored in the same
        # transaction, so that the daily sweep deletes them if the process dies in between.
        PendingFileDeletion.objects.bulk_create(PendingFileDeletion(path=path) for path in account_files(user.pk))
        end_sessions(user=user, reason=EndReason.DELETED)
        record_ended_tokens(ApiToken.objects.owned_by(user), reason=EndReason.DELETED, now=timezone.now())
        for address in {user.email, user.recovery_email}:
            # Mails that were requested by address alone have no owner to cascade from. Another account may wait for
            # them, though.
            if not User.objects.with_email(address).exclude(pk=user.pk).exists():
                AccountMail.objects.filter(address=User.objects.fold_email(address)).delete()
        User.objects.get(pk=user.pk).delete()
        transaction.on_commit(delete_pending_files, robust=True)


def delete_pending_files() -> int:
    """Delete the files of deleted accounts; returns how many. Safe to run twice: a missing file is no error."""
    rows = list(PendingFileDeletion.objects.order_by("pk")[:10_000])
    for row in rows:
        default_storage.delete(row.path)
    PendingFileDeletion.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)
