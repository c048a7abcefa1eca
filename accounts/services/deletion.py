"""The end of an account."""

from django.contrib.auth.hashers import check_password
from django.core.files.storage import default_storage
from django.db import transaction

from accounts.lifecycle import files_of
from accounts.models import AccountMail, PendingFileDeletion, User
from accounts.services.sessions import end_sessions
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import account_write


def check_deletion_password(user: User, password: str | None) -> None:
    """Raise FieldError unless the account's password was sent, where it has one."""
    if not user.has_usable_password():
        return
    if password is None:
        raise FieldError("password", "The account's password is needed.")
    if not check_password(password, user.password):
        raise FieldError("password", "This is not the password.")


def delete_account(*, user: User) -> None:
    """Remove the account with every row and file; what is queued for it finds nothing.

    Files go after the commit. They are noted in the same transaction, so that a crash in between leaves none.
    """
    with account_write(user):
        PendingFileDeletion.objects.bulk_create(PendingFileDeletion(path=path) for path in files_of(user))
        end_sessions(user=user)
        for address in {user.email, user.recovery_email}:
            if not User.objects.with_email(address).exclude(pk=user.pk).exists():
                AccountMail.objects.filter(address__iexact=address).delete()
        User.objects.get(pk=user.pk).delete()
        transaction.on_commit(delete_pending_files, robust=True)


def delete_pending_files() -> int:
    """Delete the files that are noted for it; how many. Running twice does no harm."""
    rows = list(PendingFileDeletion.objects.order_by("pk")[:10_000])
    for row in rows:
        default_storage.delete(row.path)
    PendingFileDeletion.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)
