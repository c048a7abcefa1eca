"""Unsubscribing from mails by a signed link, valid for one account and one kind of mail (RFC 8058)."""

from enum import StrEnum
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core import signing

from accounts.models import User
from accounts.services.profile import change_preferences
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.texts import define_text

INVALID_LINK = define_text("invalid_link", "This link is not valid.")

SALT = "notifications.unsubscribe"


class Subject(StrEnum):
    """The kinds of mail that can be unsubscribed from. Each has a setting of the account."""

    REMINDERS = "reminders"
    DIGEST = "digest"


_SETTINGS = {Subject.REMINDERS: "email_reminders_enabled", Subject.DIGEST: "weekly_digest_enabled"}


class BadTokenError(DomainError):
    """The token was not signed by this instance, or its account was deleted."""

    message = INVALID_LINK


def unsubscribe_url(owner: User, subject: Subject) -> str:
    """The link to unsubscribe an account from one kind of mail. It does not expire: old mails need it too."""
    token = signing.dumps([str(owner.pk), subject.value], salt=SALT)
    return f"{settings.BASE_URL}/api/unsubscribe?{urlencode({'token': token})}"


def read_unsubscribe_token(token: str) -> tuple[User, Subject]:
    """The account and the kind of mail of a token. Raises BadTokenError."""
    try:
        user_id, subject = signing.loads(token, salt=SALT)
        return User.objects.get(pk=UUID(user_id)), Subject(subject)
    except (signing.BadSignature, User.DoesNotExist, ValueError, TypeError) as error:
        raise BadTokenError from error


def unsubscribe(owner: User, subject: Subject) -> None:
    """Switch the mails off; idempotent. Raises BadTokenError if the account was deleted meanwhile."""
    try:
        change_preferences(user=owner, values={_SETTINGS[subject]: False})
    except AccountGoneError as error:
        raise BadTokenError from error
