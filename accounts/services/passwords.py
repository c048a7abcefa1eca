"""Password rules, and changing a password."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError as DjangoValidationError

from accounts.models import User
from accounts.passwords import describe_weakness, hash_password
from accounts.services.sessions import end_sessions
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text

_NO_PASSWORD = define_text(
    "account_without_password", "This account has no password: it signs in through its provider."
)
WRONG_PASSWORD = define_text("wrong_password", "This is not the password.")


def check_password_rules(password: str, user: User, field: str = "password") -> None:
    """Raises FieldError with everything that is wrong with the password."""
    try:
        validate_password(password, user)
    except DjangoValidationError as error:
        raise FieldError(field, describe_weakness(error)) from None


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
