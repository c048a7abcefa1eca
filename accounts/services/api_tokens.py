"""API tokens: made, shown once."""

import datetime as dt
from typing import Any

from accounts.models import AccountSession, ApiToken, User
from accounts.models.api_token import TOKEN_HASH, new_token
from accounts.services.credentials import InvalidCredentialsError
from accounts.vocabularies import TokenKind
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write

PREFIX_LENGTH = 12
MOST_TOKENS = 100


class TooManyTokensError(DomainError):
    """The account has as many as there may be, those of devices and those that have expired included."""

    message = f"An account has at most {MOST_TOKENS} API tokens. Delete some first, in your account."


class SessionEndedError(DomainError):
    """The session that asks has ended since the request came in."""

    message = "This session has ended. Sign in again."


def create_api_token(
    *, owner: User, session_key: str | None, name: str, scope: str, expires_at: dt.datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token for who holds this session; returns its row and the text, which is stored nowhere.

    Raises SessionEndedError: a reset ends all sessions and tokens there are, and none may come after it.
    TooManyTokensError.
    """
    with account_write(owner):
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise SessionEndedError
        return _create(owner, TokenKind.TOKEN, name=name, scope=scope, expires_at=expires_at)


def create_device_token(*, owner: User, name: str, scope: str) -> tuple[ApiToken, str]:
    """The same for an app, by whose means the owner has just proven to be `owner` (read before the proof).

    Raises InvalidCredentialsError where the password has changed since, or the account was switched off: what ends all
    tokens leaves none that was asked for before it. AccountGoneError, TooManyTokensError.
    """
    with account_write(owner):
        if not User.objects.filter(pk=owner.pk, password=owner.password, is_active=True).exists():
            raise InvalidCredentialsError
        return _create(owner, TokenKind.DEVICE, name=name, scope=scope)


def _create(owner: User, kind: TokenKind, **fields: Any) -> tuple[ApiToken, str]:
    if ApiToken.objects.owned_by(owner).count() >= MOST_TOKENS:
        raise TooManyTokensError
    text = new_token()
    prefix, digest = text[:PREFIX_LENGTH], TOKEN_HASH(text.encode()).hexdigest()
    return ApiToken.objects.create(owner=owner, kind=kind, prefix=prefix, digest=digest, **fields), text
