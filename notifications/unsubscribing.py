"""The way out of our mails: a signed link for one account and one kind of mail (RFC 8058)."""

from enum import StrEnum
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.db import transaction

from accounts.models import User
from accounts.signals import preferences_changed
from contacts_project.kernel.ownership.writing import AccountGoneError, account_write

SALT = "notifications.unsubscribe"


class Subject(StrEnum):
    """What one can be unsubscribed from; each is a switch of the account."""

    REMINDERS = "reminders"
    DIGEST = "digest"


_SWITCHES = {Subject.REMINDERS: "email_reminders_enabled", Subject.DIGEST: "weekly_digest_enabled"}


class BadTokenError(Exception):
    """The token was not made by this instance, or its account is no more."""


def unsubscribe_url(owner: User, subject: Subject) -> str:
    """The link for one kind of mail to one account. It does not expire: old mails must keep their way out."""
    token = signing.dumps([str(owner.pk), subject.value], salt=SALT)
    return f"{settings.BASE_URL}/api/unsubscribe?{urlencode({'token': token})}"


def read_token(token: str) -> tuple[User, Subject]:
    """Whom and what a token is for. Raises BadTokenError."""
    try:
        user_id, subject = signing.loads(token, salt=SALT)
        return User.objects.get(pk=UUID(user_id)), Subject(subject)
    except (signing.BadSignature, User.DoesNotExist, ValueError, TypeError) as error:
        raise BadTokenError from error


def unsubscribe(owner: User, subject: Subject) -> None:
    """Switch the mails off; again changes nothing. Raises BadTokenError when the account has gone meanwhile."""
    try:
        set_switch(owner, subject, on=False)
    except AccountGoneError as error:
        raise BadTokenError from error


def set_switch(owner: User, subject: Subject, *, on: bool) -> None:
    """Write one of the account's mail switches, and tell of it on commit."""
    field = _SWITCHES[subject]
    with account_write(owner):
        User.objects.filter(pk=owner.pk).update(**{field: on})
        transaction.on_commit(lambda: preferences_changed.send(sender=User, user_id=owner.pk, fields={field}))
