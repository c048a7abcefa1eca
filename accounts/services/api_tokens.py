"""Creation of API tokens. Only the digest is stored, so the text is available once."""

import datetime as dt
from typing import Any

from accounts.models import AccountSession, ApiToken, User
from accounts.models.api_token import TOKEN_HASH, new_token
from accounts.services.credentials import InvalidCredentialsError
from accounts.vocabularies import TokenKind
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write

PREFIX_LENGTH = 12
MAX_TOKENS = 100


class TooManyTokensError(DomainError):
    """The account has the maximum number of tokens. Device tokens and expired tokens count."""

    message = f"An account has at most {MAX_TOKENS} API tokens. Delete some first, in your account."


class SessionEndedError(DomainError):
    """The session of the request ended while the request was processed."""

    message = "This session has ended. Sign in again."


def create_api_token(
    *, owner: User, session_key: str | None, name: str, scope: str, expires_at: dt.datetime | None = None
) -> tuple[ApiToken, str]:
    """Create a token in the session `session_key`; returns the row and the token's text, which is not stored.

    Raises SessionEndedError, TooManyTokensError.
    """
    with account_write(owner):
        # A password reset ends all sessions and tokens. A request of a session that it ended while the request waited
        # for the lock must not leave a new token behind.
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise SessionEndedError
        return _create(owner, TokenKind.TOKEN, name=name, scope=scope, expires_at=expires_at)


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


def _create(owner: User, kind: TokenKind, **fields: Any) -> tuple[ApiToken, str]:
    if ApiToken.objects.owned_by(owner).count() >= MAX_TOKENS:
        raise TooManyTokensError
    text = new_token()
    prefix, digest = text[:PREFIX_LENGTH], TOKEN_HASH(text.encode()).hexdigest()
    return ApiToken.objects.create(owner=owner, kind=kind, prefix=prefix, digest=digest, **fields), text
