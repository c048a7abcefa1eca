"""Creation of API tokens. Only the digest is stored, so the text is available once."""

import datetime as dt
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import AccountSession, ApiToken, User
from accounts.models.tokens import TOKEN_HASH, new_token
from accounts.services.credentials import InvalidCredentialsError
from accounts.services.ended_credentials import record_ended_tokens
from accounts.vocabularies import EndReason, TokenKind
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text

PREFIX_LENGTH = 12
MAX_TOKENS = 100
NO_SUCH_TOKEN = define_text("no_such_token", "There is no such token.")
_DEVICE_SETTINGS = ("group_cards", "book", "alarms")


class TooManyTokensError(DomainError):
    """The account has the maximum number of tokens. Device tokens and expired tokens count."""

    message = define_text(
        "too_many_tokens", "An account has at most %(limit)s API tokens. Delete some first, in your account."
    ).format(limit=MAX_TOKENS)


class SessionEndedError(DomainError):
    """The session of the request ended while the request was processed."""

    message = define_text("session_ended", "This session has ended. Sign in again.")


def create_api_token(
    *,
    owner: User,
    session_key: str | None,
    name: str,
    scope: str,
    expires_at: dt.datetime | None = None,
    **settings: object,
) -> tuple[ApiToken, str]:
    """Create a token in the session `session_key`; returns the row and the token's text, which is not stored.

    `settings` are the columns group_cards, book and alarms. Raises SessionEndedError, TooManyTokensError.
    """
    with account_write(owner):
        # A password reset ends all sessions and tokens. A request of a session that it ended while the request waited
        # for the lock must not leave a new token behind.
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise SessionEndedError
        return _create(owner, TokenKind.TOKEN, name=name, scope=scope, expires_at=expires_at, **settings)


def update_api_token(*, owner: User, token_id: UUID, data: JsonMapping) -> ApiToken:
    """Change the name and the settings of a token. Raises MissingError.

    What its device reads otherwise from now on gets the revision of this write: the device lists it in its next sync.
    """
    with account_write(owner) as write:
        row = ApiToken.objects.owned_by(owner).with_id(token_id).first()
        if row is None:
            raise MissingError(NO_SUCH_TOKEN)
        for column, value in data.items():
            if column in _DEVICE_SETTINGS and getattr(row, column) != value:
                setattr(row, f"{column}_revision", write.revision)
            setattr(row, column, value)
        row.save(update_fields=[*data, *(f"{column}_revision" for column in _DEVICE_SETTINGS), "updated_at"])
        return row


def create_device_token(*, owner: User, name: str, scope: str) -> tuple[ApiToken, str]:
    """Create a token for an app through which the owner has just signed in; returns the row and the token's text.

    `owner` must have been loaded before the credentials were checked. Raises InvalidCredentialsError if the password
    has changed or the account was switched off since; AccountGoneError, TooManyTokensError.
    """
    with account_write(owner):
        # As above: no token may survive a reset that came between the check of the password and this lock.
        if not User.objects.filter(pk=owner.pk, password=owner.password, is_active=True).exists():
            raise InvalidCredentialsError
        return _create(owner, TokenKind.DEVICE, name=name, scope=scope)


def revoke_tokens(owner: User, rows: QuerySet[ApiToken], *, reason: EndReason = EndReason.REVOKED) -> int:
    """Delete these API tokens of the account with all that belongs to them; returns how many there were.

    The account's lock keeps those who write for a token from adding rows meanwhile, and the lock of the tokens those
    who only note that a token was used: otherwise a phone that asks at this moment could keep its token alive. It is a
    write with a revision: who writes for a token looks for it once more only if others have written since it was read.
    """
    with account_write(owner):
        ids = list(rows.select_for_update().values_list("pk", flat=True))
        revoked = ApiToken.objects.owned_by(owner).filter(pk__in=ids)
        record_ended_tokens(revoked, reason=reason, now=timezone.now())
        revoked.delete()
        return len(ids)


def _create(owner: User, kind: TokenKind, **fields: object) -> tuple[ApiToken, str]:
    if ApiToken.objects.owned_by(owner).count() >= MAX_TOKENS:
        raise TooManyTokensError
    text = new_token()
    prefix, digest = text[:PREFIX_LENGTH], TOKEN_HASH(text.encode()).hexdigest()
    return ApiToken.objects.create(owner=owner, kind=kind, prefix=prefix, digest=digest, **fields), text
