"""Actions of operators on accounts. Operators see who uses the service, never anybody's data."""

from accounts.models import MailKind, User
from accounts.services.addresses import address_write
from accounts.services.mail import queue_mail
from accounts.services.second_factor import MfaNotEnabledError, has_second_factor, stop_totp
from accounts.services.sessions import end_sessions
from accounts.services.sign_in import reset_attempts
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text


class OwnAccountError(DomainError):
    """The operator would lock themselves out."""

    message = define_text("own_account", "This is your own account.")


class LastOperatorError(DomainError):
    """No operator would be left."""

    message = define_text("last_operator", "This is the last operator.")


class AlreadyVerifiedError(DomainError):
    """The address is verified already."""

    message = define_text("already_verified", "The address has been verified.")


def is_last_operator(user: User) -> bool:
    """Whether the account is the only active operator."""
    operators = User.objects.filter(is_active=True, is_staff=True, is_superuser=True)
    return operators.filter(pk=user.pk).exists() and not operators.exclude(pk=user.pk).exists()


def check_stays_operated(*, user: User, by: User) -> None:
    """Check that `by` may take the operator's rights of `user` away, or delete or switch off the account.

    Must be called inside `address_write`. Raises OwnAccountError, LastOperatorError.
    """
    if user.pk == by.pk:
        raise OwnAccountError
    if is_last_operator(user):
        raise LastOperatorError


def switch_off(*, user: User, by: User) -> None:
    """Deactivate the account: it cannot be used and sends nothing. Its sessions end, its data stay.

    Raises OwnAccountError, LastOperatorError.
    """
    # `address_write` takes a lock of the whole instance. With the account lock alone, two operators could switch each
    # other off at the same time.
    with address_write(user) as stored:
        check_stays_operated(user=stored, by=by)
        _set_active(stored, is_active=False)
        end_sessions(user=stored)


def switch_on(*, user: User) -> None:
    """Reactivate the account, with the password and tokens that it had."""
    with account_write(user):
        _set_active(user, is_active=True)


def _set_active(user: User, *, is_active: bool) -> None:
    user.is_active = is_active
    user.save(update_fields=["is_active", "updated_at"])


def unlock_sign_in(*, user: User) -> None:
    """Reset the failed sign-in attempts of the account and of the client addresses that they came from."""
    reset_attempts(user)


def resend_verification(*, user: User) -> None:
    """Queue the verification mail again. Raises AlreadyVerifiedError."""
    if user.email_verified:
        raise AlreadyVerifiedError
    queue_mail(kind=MailKind.VERIFY, address=user.email, user=user)


def take_away_second_factor(*, user: User) -> None:
    """Switch off the second factor of a user who has lost app and recovery codes. Raises MfaNotEnabledError."""
    with account_write(user):
        if not has_second_factor(user):
            raise MfaNotEnabledError
        stop_totp(user=user)
