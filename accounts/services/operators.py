"""What operators do with accounts. They see who uses the service, never what is in it."""

from accounts.models import MailKind, User
from accounts.services.addresses import address_write
from accounts.services.credentials import forget_attempts
from accounts.services.mail_queue import queue_mail
from accounts.services.second_factor import NotOnError, has_second_factor, stop_totp
from accounts.services.sessions import end_sessions
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write


class OwnAccountError(DomainError):
    """An operator would lock themselves out."""

    message = "This is your own account."


class LastOperatorError(DomainError):
    """Nobody would be left to operate the instance."""

    message = "This is the last operator."


class AlreadyVerifiedError(DomainError):
    """There is nothing to verify."""

    message = "The address has been verified."


def is_last_operator(user: User) -> bool:
    """Whether no other account that is on may operate the instance."""
    operators = User.objects.filter(is_active=True, is_staff=True, is_superuser=True)
    return operators.filter(pk=user.pk).exists() and not operators.exclude(pk=user.pk).exists()


def check_stays_operated(*, user: User, by: User) -> None:
    """Refuse what would take an operator's rights, or the account, away from `by` or the last. Under the lock.

    Raises OwnAccountError, LastOperatorError.
    """
    if user.pk == by.pk:
        raise OwnAccountError
    if is_last_operator(user):
        raise LastOperatorError


def switch_off(*, user: User, by: User) -> None:
    """Nobody can use the account and nothing is sent for it; its data stay. Its sessions end.

    Raises OwnAccountError, LastOperatorError.
    """
    # Its lock is that of whose an address is, too: two operators who switch each other off at once stand in line.
    with address_write(user) as stored:
        check_stays_operated(user=stored, by=by)
        _set_active(stored, is_active=False)
        end_sessions(user=stored)


def switch_on(*, user: User) -> None:
    """The account is its owner's again, with the password and tokens that it had."""
    with account_write(user):
        _set_active(user, is_active=True)


def _set_active(user: User, *, is_active: bool) -> None:
    user.is_active = is_active
    user.save(update_fields=["is_active", "updated_at"])


def unlock_sign_in(*, user: User) -> None:
    """Forget the failed attempts to sign in to the account, and those of the client addresses they last came from."""
    forget_attempts(user)


def resend_verification(*, user: User) -> None:
    """Send the link again that verifies the address. Raises AlreadyVerifiedError."""
    if user.email_verified:
        raise AlreadyVerifiedError
    queue_mail(kind=MailKind.VERIFY, address=user.email, user=user)


def take_away_second_factor(*, user: User) -> None:
    """For who has lost the app and the recovery codes: from now on the password is enough. Raises NotOnError."""
    with account_write(user):
        if not has_second_factor(user):
            raise NotOnError
        stop_totp(user=user)
